// A provider with the made-up answers.
const said = { France: 'Paris', Spain: 'It is Barcelona.', Italy: 'Rome, I think', Kenya: 'Mombasa' };
module.exports = class {
  id() { return 'atlas'; }
  async callApi(prompt, context) {
    return { output: said[context.vars.country], cost: 0.0001, tokenUsage: { total: 12, prompt: 9, completion: 3 } };
  }
};
