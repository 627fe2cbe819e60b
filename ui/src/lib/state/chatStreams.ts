import { asApiError } from "../api/errors";
import type { Chat, Event, Message } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import type { Api } from "./api";
import type { ChatCallbacks } from "./callbacks";
import type { ChatState } from "./chat.svelte";
import { put, putBefore, shownSwipe, shownWords } from "./messages";
import { Reply } from "./reply.svelte";

/** Applies the events of a streamed reply to its chat. */
export class ReplyStream {
	constructor(
		private readonly chat: ChatState,
		private readonly callbacks: ChatCallbacks,
	) {}

	/** Shows a reply and the message it answers, which another window may have sent. */
	begin(message: Message, sent: Message | null): void {
		const { chat } = this;
		chat.failure = null;
		chat.prepending = false;
		const messages = put(chat.messages, message);
		chat.messages = sent ? putBefore(messages, sent, message.id) : messages;
		const swipe = shownSwipe(message);
		if (swipe && chat.reply?.swipe !== swipe.id) chat.reply = new Reply(message.id, swipe.id, { text: shownWords(swipe), thoughts: swipe.display?.thoughts });
	}

	token(event: Event & { event: "token" | "thought" }): void {
		const { chat } = this;
		const of = event.event === "token" ? "text" : "thoughts";
		// After a token of an unknown reply, or a gap, the chat loads again: the engine has the whole text.
		if (chat.reply?.swipe !== event.swipe || !chat.reply.receive(event.seq, event.text, of)) void chat.load();
	}

	thoughtsClosed(event: Event & { event: "thoughtsClosed" }): void {
		const { chat } = this;
		if (chat.reply?.swipe !== event.swipe || !chat.reply.closeThoughts(event.seq, event.text)) void chat.load();
	}

	end({ message, anchor, reason, following = 0 }: Event & { event: "ended" }): void {
		const { chat } = this;
		if (chat.info) chat.info = { ...chat.info, anchor };
		chat.reply?.discard();
		chat.reply = null;
		// The next reply starts at once, and until then the chat is busy.
		chat.activity = following > 0 ? { kind: "starting" } : null;
		if (reason.kind === "failed") chat.failure = reason.error;
		if (!message) {
			void chat.load();
			return;
		}
		chat.messages = put(chat.messages, message);
		if (reason.kind !== "failed") this.callbacks.replied(message.name, shownWords(shownSwipe(message)));
		this.callbacks.promptChanged();
	}
}

/** The user's next message, which the model writes into the composer. */
export class Impersonation {
	/** Expected sequence number of the next piece. */
	#seq = 0;

	constructor(
		private readonly chat: ChatState,
		private readonly api: Api,
		private readonly callbacks: ChatCallbacks,
	) {}

	/** Starts writing, after `saveDraft` has stored the empty composer. */
	async start(saveDraft: () => Promise<unknown>): Promise<void> {
		const { chat } = this;
		this.begin();
		chat.activity = { kind: "starting" };
		try {
			await saveDraft();
			await this.api.impersonate(chat.id);
		} catch (thrown) {
			[chat.drafting, chat.activity] = [false, null];
			chat.failure = asApiError(thrown);
		}
	}

	/** Shows the state of a chat that was loaded from the engine. */
	show({ drafting, draft }: Chat): void {
		const { chat } = this;
		if (drafting) [chat.drafting, chat.draft, this.#seq] = [true, drafting.text, drafting.seq];
		else if (chat.drafting) [chat.drafting, chat.draft] = [false, draft];
	}

	begin(): void {
		const { chat } = this;
		[chat.drafting, chat.draft, chat.draftFigures, chat.failure] = [true, "", null, null];
		this.#seq = 0;
	}

	receive(seq: number, text: string): void {
		const { chat } = this;
		if (!chat.drafting || seq > this.#seq) void chat.load();
		else if (seq === this.#seq) [chat.draft, this.#seq] = [chat.draft + text, seq + 1];
	}

	end({ text, figures, reason }: Event & { event: "drafted" }): void {
		const { chat } = this;
		[chat.drafting, chat.activity, chat.draft] = [false, null, text];
		chat.draftFigures = text === "" ? null : figures;
		if (reason.kind === "failed") chat.failure = reason.error;
		else if (text !== "") this.callbacks.announce(t("draft.done", { text }));
		this.callbacks.promptChanged();
	}
}
