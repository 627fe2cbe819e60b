import type { ChatState } from "../../lib/state/chat.svelte";
import { patterns } from "../../lib/text/foundWords";
import { foundIn } from "./foundHighlights";

/** Space above the first line of a message that is higher than the view, in pixels. */
const ABOVE = 16;
/** A message that was just drawn may change its height: its pictures, formulas and neighbours come later. */
const FRAMES = 20;
/** After this many frames without a movement the part is in its place. */
const CALM = 3;

/** The part of a message that has to be visible: its first line, or a marked word where there is one. */
export type MessagePart = "start" | Pick<ChatState, "find" | "marked">;

/** Scrolls until a part of the message is visible. A reader who scrolls meanwhile wins. */
export function bringIntoView(scroller: HTMLElement, message: HTMLElement, part: MessagePart): void {
	const ends = new AbortController();
	for (const event of ["wheel", "pointerdown", "touchmove", "keydown"]) scroller.addEventListener(event, () => ends.abort(), { once: true, signal: ends.signal, passive: true });
	let [left, calm] = [FRAMES, 0];
	const step = () => {
		if (ends.signal.aborted || !message.isConnected) return;
		const before = scroller.scrollTop;
		scroller.scrollTop += distance(scroller, message, part);
		calm = Math.abs(scroller.scrollTop - before) <= 1 ? calm + 1 : 0;
		left -= 1;
		if (left > 0 && calm < CALM) requestAnimationFrame(step);
		else ends.abort();
	};
	step();
}

/** How far the log has to scroll down. */
function distance(scroller: HTMLElement, message: HTMLElement, part: MessagePart): number {
	const view = scroller.getBoundingClientRect();
	const box = message.getBoundingClientRect();
	const toStart = box.top - view.top - ABOVE;
	if (part === "start") return toStart;
	const word = foundIn(message, wordsIn(message, part))[0]?.getBoundingClientRect();
	const { top, bottom } = word ?? box;
	if (!word && box.height > view.height - 2 * ABOVE) return toStart;
	return (top + bottom) / 2 - (view.top + view.bottom) / 2;
}

/** The words that are marked in a message. */
function wordsIn(message: HTMLElement, { find, marked }: Pick<ChatState, "find" | "marked">): RegExp[] {
	const id = message.dataset.messageId;
	if (marked?.id === id) return patterns(marked?.words ?? []);
	return find.shown && find.current === id ? patterns(find.words) : [];
}
