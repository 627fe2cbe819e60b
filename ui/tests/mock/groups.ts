import type { Group, GroupOptions, MemberState } from "../../src/lib/api/generated";
import type { MockChat } from "./engine";

export interface MockGroup {
	options: GroupOptions;
	states: MemberState[];
}

const OPTIONS: GroupOptions = { order: "natural", selfResponses: false, severalReplies: true, autoDelay: 5 };

function groupOf(chat: MockChat): MockGroup {
	return (chat.group ??= { options: OPTIONS, states: [] });
}

function stateOf(chat: MockChat, id: string): MemberState {
	return groupOf(chat).states.find((state) => state.id === id) ?? { id, muted: false, away: false, missed: 0 };
}

function put(chat: MockChat, state: MemberState): void {
	const group = groupOf(chat);
	group.states = [...group.states.filter(({ id }) => id !== state.id), state];
}

export function shown(chat: MockChat): Group | null {
	if (chat.members.length === 0) return null;
	return { options: groupOf(chat).options, members: [chat.character, ...chat.members].map((id) => stateOf(chat, id)) };
}

export function setOptions(chat: MockChat, options: GroupOptions): void {
	groupOf(chat).options = options;
}

/** Somebody who is away misses two messages. */
export function setMember(chat: MockChat, { character, muted, away }: { character: string; muted: boolean; away: boolean }): void {
	put(chat, { id: character, muted, away, missed: stateOf(chat, character).missed + (away ? 2 : 0) });
}

export function letKnow(chat: MockChat, character: string): void {
	put(chat, { ...stateOf(chat, character), missed: 0 });
}

/** The members that a message names by their first names, if several may answer; none in other chats. */
export function named(chat: MockChat, text: string, nameOf: (id: string) => string): string[] {
	if (chat.members.length === 0 || !groupOf(chat).options.severalReplies) return [];
	return [chat.character, ...chat.members].filter((id) => text.includes(nameOf(id).split(" ").at(-1) ?? ""));
}

/** The member after the last speaker. */
export function nextOf(chat: MockChat): string {
	const all = [chat.character, ...chat.members];
	const last = chat.messages.findLast(({ role }) => role === "character");
	return all[(all.indexOf(last?.speaker ?? chat.character) + 1) % all.length] ?? chat.character;
}
