import type { Attachment } from "svelte/attachments";

/** Attachment that makes a text area as high as `text`, up to `lines` lines. Attach it again for each text. */
export function autoGrow(lines: number, text: string): Attachment<HTMLTextAreaElement> {
	return (node) => {
		const fit = () => {
			const { lineHeight, paddingBlockStart, paddingBlockEnd } = getComputedStyle(node);
			const edges = node.offsetHeight - node.clientHeight;
			const most = lines * parseFloat(lineHeight) + parseFloat(paddingBlockStart) + parseFloat(paddingBlockEnd);
			node.style.height = "0";
			const height = text === "" ? 0 : Math.min(node.scrollHeight, most) + edges;
			node.style.height = height === 0 ? "" : `${height}px`;
			node.style.overflowY = node.scrollHeight > most + 1 ? "auto" : "hidden";
		};
		const width = new ResizeObserver(fit);
		if (node.parentElement) width.observe(node.parentElement);
		fit();
		return () => width.disconnect();
	};
}
