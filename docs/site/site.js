// Makes wide tables and code blocks reachable with the keyboard, because they scroll. The theme adds some of them later.
const reach = () => {
  document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre").forEach((part) => {
    if (!part.hasAttribute("tabindex") && !part.closest("summary")) part.tabIndex = 0;
  });
};
reach();
new MutationObserver(reach).observe(document.body, { childList: true, subtree: true });
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
