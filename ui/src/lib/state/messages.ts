import type { Message, Swipe } from "../api/generated";

/** The text that is shown of a message. */
export function shownSwipe(message: Message): Swipe | undefined {
	return message.swipes[message.selected];
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

/** The newest page in place of what was known of it; older messages that were loaded stay. */
export function withNewest(messages: Message[], newest: Message[]): Message[] {
	const first = newest[0];
	const at = first ? messages.findIndex((known) => known.id === first.id) : -1;
	return at > 0 ? [...messages.slice(0, at), ...newest] : newest;
}
