// A judge with the made-up grades.
const grades = { Paris: 1, 'It is Barcelona.': 0, 'Rome, I think': 0.5, Mombasa: 1 };
module.exports = class {
  id() { return 'grader'; }
  async callApi(prompt) {
    const output = prompt.split('<Output>').pop().split('</Output>')[0].replaceAll('\\n', '').trim();
    const score = grades[output] ?? 0;
    return { output: JSON.stringify({ pass: score > 0.4, score, reason: `The answer was compared: ${output}` }) };
  }
};
