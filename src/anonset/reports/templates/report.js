(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    return { text: style.getPropertyValue("--text").trim(), line: style.getPropertyValue("--line").trim() };
  };
  const themed = ({ text, line }) => {
    return {
      "font.color": text, "xaxis.gridcolor": line, "yaxis.gridcolor": line,
      "xaxis.zerolinecolor": line, "yaxis.zerolinecolor": line,
    };
  };
  const drawn = [];
  for (const [name, figure] of Object.entries(charts)) {
    const place = document.getElementById(name);
    if (!place) continue;
    const options = { responsive: true, displayModeBar: false };
    drawn.push(Plotly.newPlot(place, figure.data, figure.layout, options).then(() => place));
  }
  const apply = () => Promise.all(drawn).then((all) => all.forEach((place) => Plotly.relayout(place, themed(colours()))));
  apply();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
  // Paper is narrower than most windows: charts are drawn anew for it, and for the window again afterwards.
  const paper = 660;
  const places = () => Object.keys(charts).map((name) => document.getElementById(name)).filter((place) => place);
  const half = (place) => place.matches(".grid > *") && !place.matches(".grid > :last-child:nth-child(odd)");
  addEventListener("beforeprint", () => places().forEach((place) => {
    const width = half(place) ? paper / 2 - 12 : paper;
    Plotly.relayout(place, { ...themed({ text: "#000", line: "#ccc" }), width });
  }));
  addEventListener("afterprint", () => places().forEach((place) => {
    Plotly.relayout(place, { ...themed(colours()), width: null, autosize: true });
  }));
})();
