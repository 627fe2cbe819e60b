import { SvelteMap } from "svelte/reactivity";
import type { ApiError, ChatId, Message, MessageId } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import type { Api } from "./api";
import { KeptForms } from "./keptForm.svelte";
import { shownSwipe } from "./messages";

/** What the edits need from their chat. */
interface Host {
	find(message: MessageId): Message | undefined;
	/** `null` if it failed, `false` if the stored text is no longer `was`. */
	save(message: MessageId, was: string, text: string): Promise<boolean | null>;
	reload(): Promise<void>;
	undoable(text: string, undo: () => Promise<void>): void;
	failed(error: ApiError): void;
}

/** The draft of an edit. */
interface EditDraft {
	text: string;
	/** The edit was open, so it opens again with the chat. */
	open: boolean;
}

/** The edit of a message in a chat. Its text is kept as a draft until it is saved, also if the edit is closed. */
export class MessageEdits {
	current = $state<{ id: MessageId; text: string } | null>(null);
	/** Kept texts, by message. */
	readonly kept: KeptForms;
	/** Texts of closed edits, by message. */
	readonly #closed = new SvelteMap<string, string>();
	/** The stored text that the open edit began with. */
	#was = "";

	constructor(
		api: Api,
		chat: ChatId,
		private readonly host: Host,
	) {
		this.kept = new KeptForms(api, "messageEdit", chat, (message, draft) => this.#show(message, read(draft)), (error) => host.failed(error));
	}

	/** Shows the edits that were not finished when the chat was left. */
	async restore(): Promise<void> {
		await this.kept.restore((message) => this.#stored(message));
	}

	/** Opens the edit of a message, with the text that was typed before. */
	open(message: Message): void {
		if (this.current?.id === message.id) return;
		this.close();
		this.#begin(message.id, this.#closed.get(message.id) ?? textOf(message));
		this.#note();
	}

	type(text: string): void {
		if (!this.current) return;
		this.current.text = text;
		this.#note();
	}

	/** Closes the edit. Its text is kept, and Undo opens it again. */
	close(): void {
		const { current } = this;
		if (!current) return;
		const { id, text } = current;
		this.current = null;
		const message = this.host.find(id);
		if (message && text === textOf(message)) {
			void this.kept.of(id).done();
			return;
		}
		this.#closed.set(id, text);
		this.kept.of(id).typed(written({ text, open: false }));
		void this.kept.of(id).now();
		this.host.undoable(t("chat.editClosed"), async () => {
			this.#begin(id, text);
			this.#note();
		});
	}

	/** A closed edit of the message has text that is not saved. */
	isUnsaved(message: MessageId): boolean {
		return this.#closed.has(message) || this.kept.get(message)?.notice?.kind === "older";
	}

	/** Saves the edit. Returns whether the message has the text now. */
	async save(): Promise<boolean> {
		const { current } = this;
		if (!current) return false;
		const { id, text } = current;
		const saved = await this.host.save(id, this.#was, text);
		if (saved === false) await this.#changedMeanwhile(id);
		if (!saved) return false;
		if (this.current?.id === id) this.current = null;
		this.#closed.delete(id);
		await this.kept.of(id).done(written({ text, open: true }));
		return true;
	}

	/** Replaces the text of a message at once, unless it has changed meanwhile. */
	async replace(message: Message, text: string): Promise<void> {
		if ((await this.host.save(message.id, textOf(message), text)) === false) await this.host.reload();
	}

	/** Saves the draft at once. */
	async keep(): Promise<void> {
		if (this.current) await this.kept.of(this.current.id).now();
	}

	async #changedMeanwhile(id: MessageId): Promise<void> {
		await this.host.reload();
		const message = this.host.find(id);
		if (!message) return;
		this.#was = textOf(message);
		this.kept.of(id).storedChanged(this.#stored(id));
	}

	#begin(id: MessageId, text: string): void {
		const message = this.host.find(id);
		this.#closed.delete(id);
		this.kept.of(id).opened(this.#stored(id));
		[this.current, this.#was] = [{ id, text }, message ? textOf(message) : text];
	}

	#note(): void {
		const { current } = this;
		if (current) this.kept.of(current.id).typed(written({ text: current.text, open: true }));
	}

	#show(id: MessageId, { text, open }: EditDraft): void {
		if (this.current?.id === id) this.current.text = text;
		else if (open && !this.current) this.#begin(id, text);
		else this.#closed.set(id, text);
	}

	#stored(id: MessageId): string {
		const message = this.host.find(id);
		return written({ text: message ? textOf(message) : "", open: true });
	}
}

const textOf = (message: Message): string => shownSwipe(message)?.text ?? "";

const written = ({ text, open }: EditDraft): string => JSON.stringify({ text, open });

function read(draft: string): EditDraft {
	return JSON.parse(draft) as EditDraft;
}
