// Search of the gallery: cards whose words hold all that is written in the field.
(() => {
  const field = document.querySelector(".case-search input");
  const told = document.querySelector(".case-search span");
  const cards = [...document.querySelectorAll(".case")];
  const sections = [...document.querySelectorAll("section")].filter((own) => own.querySelector(":scope > .cases"));
  const search = () => {
    const words = field.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    for (const card of cards) card.hidden = !words.every((word) => card.dataset.words.includes(word));
    for (const own of sections) own.hidden = !own.querySelector(".case:not([hidden])");
    const shown = cards.filter((card) => !card.hidden).length;
    told.textContent = words.length ? `${shown} of ${cards.length} cases` : "";
    const address = new URL(location);
    if (words.length) address.searchParams.set("with", field.value);
    else address.searchParams.delete("with");
    history.replaceState(null, "", address);
  };
  field.value = new URLSearchParams(location.search).get("with") ?? "";
  field.addEventListener("input", search);
  if (field.value) search();
})();
