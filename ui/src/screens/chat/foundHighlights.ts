import type { Attachment } from "svelte/attachments";
import type { ChatState } from "../../lib/state/chat.svelte";
import { setOf } from "../../lib/state/find";
import { patterns, rangesIn } from "../../lib/text/foundWords";

const FOUND = "found";
const CURRENT = "found-current";

/** WebKit knows the CSS Custom Highlight API since version 17.2. Without it, only the message of the hit is marked. */
const known = typeof CSS !== "undefined" && "highlights" in CSS && typeof Highlight === "function";

/** What is marked: the hits of the chat's own search, and a message that a search over everything has opened. */
interface Wanted {
	hits: ReadonlySet<string>;
	current: string;
	words: readonly RegExp[];
	marked: { id: string; words: readonly RegExp[] } | null;
}

/** Highlights the found words in the messages below an element, whenever messages or hits change. No element is changed. */
export function foundHighlights({ find, marked }: Pick<ChatState, "find" | "marked">): Attachment<HTMLElement> {
	return (content) => {
		const wanted: Wanted = { hits: setOf(find.messages), current: find.current, words: patterns(find.words), marked: marked && { id: marked.id, words: patterns(marked.words) } };
		if (!known || (wanted.words.length === 0 && !wanted.marked)) return;
		const draw = () => paint(content, wanted);
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

function paint(content: HTMLElement, { hits, current, words, marked }: Wanted): void {
	const [found, inCurrent] = [new Highlight(), new Highlight()];
	inCurrent.priority = 1;
	for (const message of content.querySelectorAll<HTMLElement>("[data-message-id]")) {
		const id = message.dataset.messageId ?? "";
		if (id === marked?.id) for (const range of foundIn(message, marked.words)) inCurrent.add(range);
		if (!hits.has(id)) continue;
		for (const range of foundIn(message, words)) (id === current ? inCurrent : found).add(range);
	}
	CSS.highlights.set(FOUND, found);
	CSS.highlights.set(CURRENT, inCurrent);
}

/** The ranges of the found words in the text of a message. */
export function foundIn(message: HTMLElement, wanted: readonly RegExp[]): Range[] {
	return [...message.querySelectorAll("[data-testid=message-text] .prose")].flatMap((text) => rangesIn(text, wanted));
}
