import type { Event, Generating, Message, Swipe } from "../api/generated";

/** The selected swipe of a message. */
export function shownSwipe(message: Message): Swipe | undefined {
	return message.swipes[message.selected];
}

/** The text to display, without its hidden parts. */
export function shownWords(swipe: Swipe | undefined): string {
	return swipe?.display?.text ?? swipe?.text ?? "";
}

/** Whether a model wrote the message. */
export function isReply({ role }: Message): boolean {
	return role === "character" || role === "narrator";
}

/** Replaces the message with the same id, or appends `message`. */
export function put(messages: Message[], message: Message): Message[] {
	const at = messages.findIndex((known) => known.id === message.id);
	return at < 0 ? [...messages, message] : messages.with(at, message);
}

/** Inserts `message` before the one with id `next`. The event of a user message may arrive after the start of its reply. */
export function putBefore(messages: Message[], message: Message, next: string): Message[] {
	if (messages.some((known) => known.id === message.id)) return put(messages, message);
	const at = messages.findIndex((known) => known.id === next);
	return at < 0 ? [...messages, message] : messages.toSpliced(at, 0, message);
}

/** Whether the shown swipe of `message` is among `messages`, perhaps with more text. */
export function hasSwipe(messages: Message[], message: Message): boolean {
	const swipe = shownSwipe(message)?.id;
	return messages.some(({ id, swipes }) => id === message.id && swipes.some((one) => one.id === swipe));
}

/** The messages that are older than the newest page. */
export function olderThan(messages: Message[], newest: Message[]): Message[] {
	const first = newest[0];
	const at = first ? messages.findIndex((known) => known.id === first.id) : -1;
	return messages.slice(0, Math.max(0, at));
}

/** Adds the reply that is being written, because the engine stores it only once it has some text. */
export function withGenerating(messages: Message[], generating: Generating, name: string): Message[] {
	const created = new Date().toISOString();
	const swipe: Swipe = { id: generating.swipe, text: generating.text, display: null, state: "streaming", created, model: null, figures: null, toolCalls: [], emotion: null };
	const known = messages.find((message) => message.id === generating.message);
	if (!known) return [...messages, { id: generating.message, role: "character", name, swipes: [swipe], selected: 0, created, pinned: false, canRegenerate: false, pictures: [] }];
	const at = known.swipes.findIndex((one) => one.id === swipe.id);
	const swipes = at < 0 ? [...known.swipes, swipe] : known.swipes;
	return put(messages, { ...known, swipes, selected: at < 0 ? swipes.length - 1 : at });
}

/** The messages with the tool rounds of a reply that is being written. */
export function withRounds(messages: readonly Message[], { message, swipe, rounds }: Event & { event: "toolsUsed" }): Message[] {
	const changed = (known: Swipe) => (known.id === swipe ? { ...known, toolRounds: rounds } : known);
	return messages.map((known) => (known.id === message ? { ...known, swipes: known.swipes.map(changed) } : known));
}
