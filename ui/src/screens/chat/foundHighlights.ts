import type { Attachment } from "svelte/attachments";
import type { ChatFind } from "../../lib/state/chatFind.svelte";
import { setOf } from "../../lib/state/find";
import { patterns, rangesIn } from "../../lib/text/foundWords";

const FOUND = "found";
const CURRENT = "found-current";

/** WebKit knows the CSS Custom Highlight API since version 17.2. Without it, only the message of the hit is marked. */
const known = typeof CSS !== "undefined" && "highlights" in CSS && typeof Highlight === "function";

/** Highlights the found words in the messages below an element, whenever messages or hits change. No element is changed. */
export function foundHighlights(find: ChatFind): Attachment<HTMLElement> {
	return (content) => {
		const { current } = find;
		const wanted = patterns(find.words);
		if (!known || wanted.length === 0) return;
		const hits = setOf(find.messages);
		const draw = () => paint(content, hits, current, wanted);
		let frame = requestAnimationFrame(draw);
		const changes = new MutationObserver(() => {
			cancelAnimationFrame(frame);
			frame = requestAnimationFrame(draw);
		});
		changes.observe(content, { childList: true, characterData: true, subtree: true });
		return () => {
			changes.disconnect();
			cancelAnimationFrame(frame);
			CSS.highlights.delete(FOUND);
			CSS.highlights.delete(CURRENT);
		};
	};
}

function paint(content: HTMLElement, hits: ReadonlySet<string>, current: string, wanted: readonly RegExp[]): void {
	const [found, inCurrent] = [new Highlight(), new Highlight()];
	inCurrent.priority = 1;
	for (const message of content.querySelectorAll<HTMLElement>("[data-message-id]")) {
		const id = message.dataset.messageId ?? "";
		if (!hits.has(id)) continue;
		for (const text of message.querySelectorAll("[data-testid=message-text] .prose")) {
			for (const range of rangesIn(text, wanted)) (id === current ? inCurrent : found).add(range);
		}
	}
	CSS.highlights.set(FOUND, found);
	CSS.highlights.set(CURRENT, inCurrent);
}
