import type { ChangedText, Chat, ChatMarks, JoinedChat, Message, Rating, Revision, StoryMessage, StoryNode, StoryTree } from "../../src/lib/api/generated";
import * as data from "./data";
import type { MockChat } from "./engine";
import { hasTokens } from "./tokens";

/** What branches need from the scripted engine. */
interface Host {
	chats: MockChat[];
	chat(id: string): MockChat;
	open(id: string): Chat;
	changed(chat: string): void;
}

/** Branches, checkpoints and ranges of the scripted engine. */
export class MockBranches {
	readonly #origins = new Map<string, { chat: string; message: string; number: number }>();
	readonly #checkpoints = new Map<string, string>();
	readonly #ratings = new Map<string, Rating>();
	/** Messages with an earlier text. */
	readonly edited = new Set<string>();
	readonly #joined = new Map<string, MockChat>();
	readonly #gone = new Map<string, { chat: MockChat; at: number; message: Message }>();

	constructor(private readonly host: Host) {}

	#find(id: string): { chat: MockChat; at: number; message: Message } {
		for (const chat of this.host.chats) {
			const at = chat.messages.findIndex((known) => known.id === id);
			const message = chat.messages[at];
			if (message) return { chat, at, message };
		}
		throw { kind: "notFound", message: "This message is no longer there." };
	}

	op_chat_marks = ({ chat: id }: { chat: string }): ChatMarks => {
		const chat = this.host.chat(id);
		const origin = this.#origins.get(id);
		const branches = [...this.#origins].filter(([, from]) => from.chat === id).map(([branch, from]) => ({ chat: branch, title: this.host.chat(branch).title, message: from.message }));
		const checkpoints = chat.messages.flatMap(({ id: message, created }) => {
			const name = this.#checkpoints.get(message);
			return name === undefined ? [] : [{ message, name, created }];
		});
		return {
			origin: origin ? { ...origin, title: this.host.chat(origin.chat).title || "Mira" } : null,
			branches,
			checkpoints,
			edited: [...this.edited],
			tokenSwipes: chat.messages.flatMap(({ swipes }) => swipes.map(({ id }) => id)).filter(hasTokens),
			ratings: [...this.#ratings].map(([swipe, rating]) => ({ swipe, rating })),
		};
	};
	op_set_checkpoint = ({ message, name }: { message: string; name: string | null }): ChatMarks => {
		if (name === null) this.#checkpoints.delete(message);
		else this.#checkpoints.set(message, name);
		return this.op_chat_marks({ chat: this.#find(message).chat.id });
	};
	op_rate_swipe = ({ swipe, rating }: { swipe: string; rating: Rating | null }) => {
		if (rating === null) this.#ratings.delete(swipe);
		else this.#ratings.set(swipe, rating);
	};
	op_branch_chat = ({ message: id, swipe, title }: { message: string; swipe: number | null; title: string | null }): Chat => {
		const { chat, at } = this.#find(id);
		const made = `branch${this.#origins.size + 1}`;
		const messages = structuredClone(chat.messages.slice(0, at + 1)).map((message) => ({ ...message, id: `${made}-${message.id}` }));
		const last = messages.at(-1);
		if (last && swipe !== null) last.selected = swipe;
		this.host.chats.unshift({ ...structuredClone(chat), id: made, title: title ?? `${chat.title || "Mira"} - Branch #${this.#origins.size + 1}`, messages, generating: null, updated: data.ago(0) });
		this.#origins.set(made, { chat: chat.id, message: id, number: at + 1 });
		this.host.changed(made);
		return this.host.open(made);
	};
	op_split_chat = ({ message }: { message: string }) => {
		const { chat, at } = this.#find(message);
		const moved = chat.messages.slice(at).map(({ id }) => id);
		const made = `split${this.host.chats.length}`;
		this.host.chats.unshift({ ...structuredClone(chat), id: made, title: `${chat.title || "Mira"} (2)`, messages: structuredClone(chat.messages.slice(at)).map((one) => ({ ...one, id: `${made}-${one.id}` })) });
		this.op_delete_from({ message });
		return { chat: this.host.open(made), moved };
	};
	op_delete_from = ({ message }: { message: string }): string[] => {
		const { chat, at } = this.#find(message);
		const gone = chat.messages.splice(at);
		gone.forEach((one, index) => this.#gone.set(one.id, { chat, at: at + index, message: one }));
		return gone.map(({ id }) => id);
	};
	op_restore_messages = ({ messages }: { messages: string[] }) => {
		for (const id of messages) {
			const gone = this.#gone.get(id);
			gone?.chat.messages.splice(gone.at, 0, gone.message);
		}
	};
	op_hide_range = ({ first, last, hidden }: { first: string; last: string; hidden: boolean }): string[] => {
		const { chat, at } = this.#find(first);
		const changed = chat.messages.slice(at, this.#find(last).at + 1).filter((message) => message.hidden !== hidden);
		for (const message of changed) message.hidden = hidden;
		return changed.map(({ id }) => id);
	};
	op_hide_messages = ({ messages, hidden }: { messages: string[]; hidden: boolean }) => {
		for (const id of messages) this.#find(id).message.hidden = hidden;
	};
	op_move_message = ({ message, down }: { message: string; down: boolean }) => {
		const { chat, at } = this.#find(message);
		const [moved] = chat.messages.splice(at, 1);
		if (moved) chat.messages.splice(at + (down ? 1 : -1), 0, moved);
	};
	/** Appends copies of the messages of another chat, which disappears from the list. */
	op_join_chats = ({ chat: id, other: joined }: { chat: string; other: string }): JoinedChat => {
		const [chat, other] = [this.host.chat(id), this.host.chat(joined)];
		const added = structuredClone(other.messages).map((message) => ({ ...message, id: `${id}-${message.id}` }));
		chat.messages.push(...added);
		this.host.chats.splice(this.host.chats.indexOf(other), 1);
		this.#joined.set(joined, other);
		return { chat: this.host.open(id), added: added.map((message) => message.id), joined };
	};
	/** Brings a joined chat back; the scripted engine itself handles all others. */
	restoreJoined(id: string): boolean {
		const chat = this.#joined.get(id);
		if (chat) this.host.chats.unshift(chat);
		return this.#joined.delete(id);
	}
	op_revisions = ({ message }: { message: string }): Revision[] => {
		const shown = this.#find(message).message.swipes[0];
		return this.edited.has(message) ? [{ text: `Once, ${shown?.text ?? ""}`, replaced: data.ago(5) }] : [];
	};
	op_revision_changes = ({ message }: { message: string; index: number }): ChangedText[] => [
		{ change: "removed", text: "Once, " },
		{ change: "same", text: this.#find(message).message.swipes[0]?.text ?? "" },
		{ change: "added", text: " It was late." },
	];
	op_delete_revisions = () => {};
	op_read_path = ({ chat, through }: { chat: string; through: string }): StoryMessage[] => {
		const { messages } = this.host.chat(chat);
		const end = messages.findIndex(({ id }) => id === through) + 1;
		return messages.slice(0, end).map(({ id, role, name, swipes, selected }) => ({ message: id, role, name, text: swipes[selected]?.text ?? "" }));
	};
	/** The asked chat, with a fork at its first message and 500 branches there. */
	op_story_tree = ({ chat: id }: { chat: string }): StoryTree => {
		const chat = this.host.chat(id);
		const [first, last] = [chat.messages[0], chat.messages.at(-1)];
		if (!first || !last) return { nodes: [], chats: 1 };
		const node = (message: Message, number: number, over: Partial<StoryNode>): StoryNode => ({ parent: 0, chat: id, message: message.id, number, text: message.swipes[message.selected]?.text ?? "", role: message.role, checkpoints: [], ends: [], isCurrent: false, ...over });
		const branches = Array.from({ length: 500 }, (_, index) => node(last, 5, { ends: [{ chat: id, title: `Branch #${index + 1}` }] }));
		return { nodes: [node(first, 1, { parent: null, isCurrent: true }), node(last, chat.messages.length, { isCurrent: true, ends: [{ chat: id, title: "Mira" }] }), ...branches], chats: 501 };
	};
}
