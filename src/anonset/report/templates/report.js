(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    return { text: style.getPropertyValue("--text").trim(), line: style.getPropertyValue("--line").trim() };
  };
  const themed = () => {
    const { text, line } = colours();
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
  const apply = () => Promise.all(drawn).then((all) => all.forEach((place) => Plotly.relayout(place, themed())));
  apply();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
  matchMedia("print").addEventListener("change", apply);
})();
