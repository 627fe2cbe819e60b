import type { Generating, Message, Swipe } from "../api/generated";

/** The text that is shown of a message. */
export function shownSwipe(message: Message): Swipe | undefined {
	return message.swipes[message.selected];
}

/** Its words, without what is hidden in them. */
export function shownWords(swipe: Swipe | undefined): string {
	return swipe?.display?.text ?? swipe?.text ?? "";
}

/** A model's words. */
export function isReply({ role }: Message): boolean {
	return role === "character" || role === "narrator";
}

/** `message` in place of the one with its id, or at the end. */
export function put(messages: Message[], message: Message): Message[] {
	const at = messages.findIndex((known) => known.id === message.id);
	return at < 0 ? [...messages, message] : messages.with(at, message);
}

/** `message` before the one with id `next`: the user's words may be told after the reply to them has begun. */
export function putBefore(messages: Message[], message: Message, next: string): Message[] {
	if (messages.some((known) => known.id === message.id)) return put(messages, message);
	const at = messages.findIndex((known) => known.id === next);
	return at < 0 ? [...messages, message] : messages.toSpliced(at, 0, message);
}

/** Those of `messages` that stand before the newest page. */
export function olderThan(messages: Message[], newest: Message[]): Message[] {
	const first = newest[0];
	const at = first ? messages.findIndex((known) => known.id === first.id) : -1;
	return messages.slice(0, Math.max(0, at));
}

/** With the reply that is being written: the engine stores it only once it has a first text. */
export function withGenerating(messages: Message[], generating: Generating, name: string): Message[] {
	const created = new Date().toISOString();
	const swipe: Swipe = { id: generating.swipe, text: generating.text, display: null, state: "streaming", created, model: null, figures: null, toolCalls: [] };
	const known = messages.find((message) => message.id === generating.message);
	if (!known) return [...messages, { id: generating.message, role: "character", name, swipes: [swipe], selected: 0, created, pinned: false, pictures: [] }];
	const at = known.swipes.findIndex((one) => one.id === swipe.id);
	const swipes = at < 0 ? [...known.swipes, swipe] : known.swipes;
	return put(messages, { ...known, swipes, selected: at < 0 ? swipes.length - 1 : at });
}
