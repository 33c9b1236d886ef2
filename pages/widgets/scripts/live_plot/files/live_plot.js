// A plotly figure that stays the same element while its numbers change. Streamlit's own chart is a new element at every change: a
// dot under the mouse, its hover and the focus would be lost. The library comes from the installed package plotly.
const plots = new WeakMap();
let loading;

function library() {
  loading ??= import(new URL("../assay.plotly/plotly.min.js", import.meta.url)).then(
    () => globalThis.Plotly ?? globalThis.moduleName,
  );
  return loading;
}

export default function ({ data, parentElement, setStateValue }) {
  let plot = plots.get(parentElement);
  if (!plot) {
    plot = new Plot(parentElement);
    plots.set(parentElement, plot);
  }
  plot.send = (value) => setStateValue("pressed", value);
  plot.take(data);
  return () => {
    plot.remove();
    plots.delete(parentElement);
  };
}

class Plot {
  constructor(parent) {
    this.number = 0;
    this.root = document.createElement("div");
    this.root.className = "assay-live-plot";
    this.root.setAttribute("role", "figure");
    parent.append(this.root);
    this.drawing = library();
  }

  /** Draw news from the server once what came before is drawn. */
  take({ figure, alt, config, number }) {
    this.number = Math.max(this.number, number);
    this.root.setAttribute("aria-label", alt);
    this.root.style.height = `${figure.layout.height}px`;
    this.drawing = this.drawing.then(async () => {
      const Plotly = await library();
      if (this.gone) return;
      await Plotly.react(this.root, figure.data, figure.layout, config);
      if (this.heard) return;
      this.heard = true;
      this.root.on("plotly_click", ({ points }) => {
        const row = points.find((point) => point.customdata)?.customdata[0];
        if (row !== undefined) this.send({ number: (this.number += 1), row });
      });
    });
  }

  remove() {
    this.gone = true;
    library().then((Plotly) => Plotly.purge(this.root));
    this.root.remove();
  }
}
