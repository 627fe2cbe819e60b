import type { Attachment } from "svelte/attachments";

/** Attachment for an element around tabs: keeps the chosen tab in view when not all tabs fit. */
export const activeTab: Attachment<HTMLElement> = (around) => {
	const reveal = () => {
		const tab = around.querySelector<HTMLElement>(".tab[data-state=active]");
		const line = tab?.parentElement;
		if (!tab || !line || line.scrollWidth <= line.clientWidth) return;
		const [start, end] = [tab.offsetLeft - line.offsetLeft, tab.offsetLeft - line.offsetLeft + tab.offsetWidth];
		if (start < line.scrollLeft) line.scrollLeft = start;
		else if (end > line.scrollLeft + line.clientWidth) line.scrollLeft = end - line.clientWidth;
	};
	const changes = new MutationObserver(reveal);
	changes.observe(around, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-state"] });
	const width = new ResizeObserver(reveal);
	width.observe(around);
	reveal();
	return () => {
		changes.disconnect();
		width.disconnect();
	};
};
