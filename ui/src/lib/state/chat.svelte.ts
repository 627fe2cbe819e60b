import { asApiError } from "../api/errors";
import type { ApiError, Chat, Event, Figures, Message, ModelRef, Persona, Started } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import { activityOf, type Activity } from "./activity";
import type { Api } from "./api";
import { Attachments } from "./attachments.svelte";
import { typed } from "./commands";
import { Documents } from "./documents.svelte";
import { draftSaver, type DraftSaver } from "./draft";
import { Later } from "./later";
import { ModeChoice } from "./mode.svelte";
import { isReply, olderThan, put, putBefore, shownSwipe, shownWords, withGenerating } from "./messages";
import { Reply } from "./reply.svelte";
import { OwnTexts } from "./texts.svelte";

const PAGE = 50;
/** A page while an old message is looked for. */
const WIDE_PAGE = 200;
/** Messages that stand before one that is looked for. */
const MARGIN = 20;
/** While a reply is made, news come more often than this. After such a silence they may have been lost on the way. */
const SILENCE_MS = 10_000;

/** What the chat needs from the window around it. */
export interface Surroundings {
	/** A message is gone; `undo` brings it back. */
	deleted(undo: () => Promise<void>): void;
	/** A document is gone; `undo` brings it back. */
	detached(name: string, undo: () => Promise<void>): void;
	failed(error: ApiError): void;
	/** A reply is whole: a screen reader should hear it. */
	replied(name: string, text: string): void;
	/** Something short that a screen reader should hear. */
	said(text: string): void;
	/** The next prompt is another one than before. */
	turned(): void;
}

/** One open chat. It holds nothing the engine does not know, but for words being typed. */
export class ChatState {
	info = $state.raw<Chat | null>(null);
	messages = $state.raw<Message[]>([]);
	more = $state(false);
	/** Older messages are being put in front, so the list must keep its place. */
	prepending = $state(false);
	reply = $state.raw<Reply | null>(null);
	activity = $state.raw<Activity | null>(null);
	/** Why there is no chat on screen. */
	openFailure = $state.raw<ApiError | null>(null);
	/** Why the last reply did not come, or did not end well. */
	failure = $state.raw<ApiError | null>(null);
	/** A model's thoughts are open, not folded. */
	thoughtsOpen = $state(false);
	/** The model is said to look at pictures; those on this machine never do. */
	seesPictures = $state(false);
	draft = $state("");
	/** The model is writing the user's next message into the composer. */
	drafting = $state(false);
	/** What the draft in the composer has cost, until it is changed or sent. */
	draftFigures = $state.raw<Figures | null>(null);
	editing = $state<{ id: string; text: string } | null>(null);
	/** Why a command was not followed. */
	commandFailure = $state("");
	/** The message to bring into view; a new object for each asking. */
	target = $state.raw<{ id: string } | null>(null);
	/** The menu of models is open. */
	choosingModel = $state(false);
	readonly mode: ModeChoice;
	readonly attached: Attachments;
	readonly documents: Documents;
	readonly texts: OwnTexts;

	readonly last = $derived(this.messages.at(-1));
	readonly busy = $derived(this.activity !== null);
	/** The user has spoken and nobody answers. */
	readonly unanswered = $derived((this.last?.role === "user" || this.last?.role === "event") && !this.busy);
	/** Nobody has spoken, so the character may (S4.24). */
	readonly unbegun = $derived(this.info !== null && this.last === undefined && !this.busy);
	/** Place of the first message that the model reads word for word; 0 while it reads all that is on screen. */
	readonly anchorAt = $derived(Math.max(0, this.messages.findIndex(({ id }) => id === this.info?.anchor)));

	#saver: DraftSaver;
	readonly #silence = new Later(SILENCE_MS);
	/** Number of the next piece of a draft. */
	#draftSeq = 0;
	#loadingOlder = false;
	/** Events that come while the chat is being read; they are newer than what was read, or known already. */
	#early: Event[] | null = [];
	#reading: Promise<void> | null = null;
	/** What was read no longer holds: something has been changed meanwhile. */
	#stale = false;

	constructor(
		readonly id: string,
		private readonly api: Api,
		private readonly around: Surroundings,
	) {
		this.mode = new ModeChoice(api, id, (error) => around.failed(error));
		this.attached = new Attachments(api, (error) => around.failed(error));
		this.documents = new Documents(api, { of: "chat", id }, around);
		this.texts = new OwnTexts(api, id, around);
		this.#saver = draftSaver(api, id, (error) => around.failed(error));
	}

	/** Reads the chat; a reply being written is joined where it stands. */
	load(): Promise<void> {
		this.#stale = true;
		this.#reading ??= this.#read().finally(() => (this.#reading = null));
		return this.#reading;
	}

	/** Reads the settings that say how the chat is shown. Without them it is shown as built in. */
	async readTastes(): Promise<void> {
		const all = await this.api.layeredSettings({ scope: "chat", id: this.id }).catch(() => null);
		const on = (name: string) => all?.settings.find(({ key }) => key === name)?.value === true;
		[this.thoughtsOpen, this.seesPictures] = [on("show_thoughts"), on("sees_images")];
	}

	receive = (event: Event): void => {
		this.#listen();
		if (this.#early) {
			this.#early.push(event);
			return;
		}
		this.activity = activityOf(event) ?? this.activity;
		if (event.event === "started") this.#begin(event.message, event.sent);
		else if (event.event === "token" || event.event === "thought") this.#token(event);
		else if (event.event === "thoughtsClosed") this.#thoughtsClosed(event);
		else if (event.event === "ended") this.#end(event.message, event.reason);
		else if (event.event === "drafting") this.#draftBegun();
		else if (event.event === "draft") this.#draftGrown(event.seq, event.text);
		else if (event.event === "drafted") this.#draftEnded(event);
	};

	type(text: string): void {
		this.draft = text;
		this.draftFigures = null;
		this.commandFailure = "";
		this.#saver.later(text);
	}

	/** Sends what stands in the composer. The words leave it only when they are on disk. */
	async send(): Promise<void> {
		const draft = this.draft;
		const pictures = this.attached.all;
		if ((draft.trim() === "" && pictures.length === 0) || this.attached.coming > 0) return;
		const asked = typed(draft);
		if (asked.kind === "mode") return this.#command(draft, () => this.setMode(asked.name));
		if (asked.kind === "impersonate") {
			this.type("");
			return this.impersonate();
		}
		if (asked.kind === "unknown") {
			this.commandFailure = t("commands.unknown", { command: asked.command });
			return;
		}
		if (this.busy) return;
		const { text } = asked;
		const before = this.last?.id;
		const send = () => (pictures.length === 0 ? this.api.sendMessage(this.id, text) : this.api.sendPictures(this.id, text, pictures));
		const started = await this.#start(send);
		if (!started && !(await this.#committed(before, text))) return;
		this.#clear(draft);
		this.attached.sent(pictures);
	}

	/** Why it was refused; empty when it was set. */
	async setMode(name: string): Promise<string> {
		const refused = await this.mode.set(name);
		if (refused === "") {
			this.around.said(t("mode.now", { name: this.mode.name }));
			this.around.turned();
		}
		return refused;
	}

	regenerate = (): Promise<unknown> => this.#start(() => this.api.regenerate(this.id));

	continueReply = (): Promise<unknown> => this.#start(() => this.api.continueReply(this.id));

	/** Has the model write the user's next message into the composer, where nothing else stands. Nothing is sent. */
	impersonate = async (): Promise<void> => {
		if (this.busy || this.draft !== "") return;
		this.#draftBegun();
		this.activity = { kind: "starting" };
		try {
			await this.#saver.now();
			await this.api.impersonate(this.id);
		} catch (thrown) {
			[this.drafting, this.activity] = [false, null];
			this.failure = asApiError(thrown);
		}
	};

	/** Without an id, the narrator's turn. */
	letSpeak = (speaker: string | null): Promise<unknown> => this.#start(() => this.api.letSpeak(this.id, speaker));

	async setMembers(characters: string[]): Promise<void> {
		await this.#do(() => this.api.setMembers(this.id, characters));
		this.around.turned();
		await this.load();
	}

	stop = (): Promise<unknown> => this.#do(() => this.api.stop(this.id));

	/** Shows the next or the previous text; after the last one of the newest reply a new one is written. */
	async swipe(message: Message, step: 1 | -1): Promise<void> {
		const index = message.selected + step;
		if (this.busy || index < 0) return;
		if (index < message.swipes.length) {
			await this.#change(() => this.api.selectSwipe(message.id, index));
		} else if (this.canRegenerate(message)) {
			await this.regenerate();
		}
	}

	/** Greetings are chosen among, not rewritten; an opening that a model wrote is none. */
	canRegenerate(message: Message): boolean {
		const greeting = !this.more && this.messages[0]?.id === message.id && message.swipes.every(({ model }) => model === null);
		return isReply(message) && message.id === this.last?.id && !greeting;
	}

	edit(message: Message): void {
		this.editing = { id: message.id, text: shownSwipe(message)?.text ?? "" };
	}

	/** Up in an empty composer. */
	editLastOwn(): boolean {
		const own = this.messages.findLast((message) => message.role === "user");
		if (own) this.edit(own);
		return own !== undefined;
	}

	async saveEdit(): Promise<void> {
		const editing = this.editing;
		if (!editing) return;
		const saved = await this.#change(() => this.api.editMessage(editing.id, editing.text));
		if (saved) this.editing = null;
	}

	async remove(message: Message): Promise<void> {
		const gone = await this.#do(async () => {
			await this.api.deleteMessage(message.id);
			return true;
		});
		if (!gone) return;
		this.#stale = true;
		this.messages = this.messages.filter((known) => known.id !== message.id);
		this.around.deleted(async () => {
			await this.#do(() => this.api.restoreMessage(message.id));
			await this.load();
		});
	}

	async loadOlder(limit = PAGE): Promise<void> {
		const first = this.messages[0];
		if (!first || !this.more || this.#loadingOlder) return;
		this.#loadingOlder = true;
		const page = await this.#do(() => this.api.messagesBefore(this.id, first.id, limit));
		if (page) {
			this.prepending = true;
			this.messages = [...page.messages, ...this.messages];
			this.more = page.more;
		}
		this.#loadingOlder = false;
	}

	/** Brings a message into view, however old it is. */
	async reveal(id: string): Promise<void> {
		// With some before it, too: a list that grows while it scrolls would lose its place.
		await this.#loadWhile(() => this.messages.findIndex((message) => message.id === id) < MARGIN);
		this.target = { id };
	}

	/** Scrolls to the first message of the chat. */
	async revealFirst(): Promise<void> {
		await this.#loadWhile(() => true);
		const [first] = this.messages;
		if (first) this.target = { id: first.id };
	}

	/** Scrolls to the first message on or after a day, or to the last message if there is none. */
	async revealDate(day: Date): Promise<void> {
		const from = day.getTime();
		const before = ({ created }: Message) => Date.parse(created) < from;
		await this.#loadWhile(() => !this.messages.slice(0, 1).some(before));
		const found = this.messages.find((message) => !before(message)) ?? this.last;
		if (found) await this.reveal(found.id);
	}

	async pin(message: Message, pinned: boolean): Promise<void> {
		if (await this.#change(() => this.api.pinMessage(message.id, pinned))) this.around.turned();
	}

	/** The next prompt begins with the next message. */
	async newScene(): Promise<void> {
		const done = await this.#do(async () => {
			await this.api.newScene(this.id);
			return true;
		});
		if (!done) return;
		this.around.said(t("chat.sceneBegun"));
		this.around.turned();
		await this.load();
	}

	async setModel(model: ModelRef | null): Promise<void> {
		await this.#do(() => this.api.setChatModel(this.id, model));
		if (this.info) this.info = { ...this.info, model };
		await this.readTastes();
	}

	async setPersona(persona: Persona): Promise<void> {
		await this.#do(() => this.api.setChatPersona(this.id, persona.id));
		if (this.info) this.info = { ...this.info, persona, nameKept: null };
	}

	/** Creates a persona from the user's name in an imported chat, and selects it for this chat. */
	async personaFromChat(): Promise<void> {
		const persona = await this.#do(() => this.api.personaFromChat(this.id));
		if (persona && this.info) this.info = { ...this.info, persona, nameKept: null };
	}

	dismissFailure = (): void => {
		this.failure = null;
	};

	/** Saves what is typed without waiting for a pause. */
	keepDraft = (): void => void this.#saver.now();

	/** To be called before the chat leaves the screen. */
	async close(): Promise<void> {
		this.#silence.cancel();
		this.reply?.discard();
		await this.#saver.now();
	}

	async #loadWhile(wanted: () => boolean): Promise<void> {
		while (this.more && wanted()) {
			const before = this.messages.length;
			await this.loadOlder(WIDE_PAGE);
			if (this.messages.length === before) break;
		}
	}

	async #read(): Promise<void> {
		this.#early ??= [];
		while (this.#stale) {
			this.#stale = false;
			try {
				const chat = await this.api.openChat(this.id);
				this.openFailure = null;
				if (!this.#stale) this.#show(chat);
			} catch (thrown) {
				// A chat that is already shown stays open, so that the draft is not lost.
				if (this.info) this.failure ??= asApiError(thrown);
				else this.openFailure = asApiError(thrown);
			}
		}
		const early = this.#early;
		this.#early = null;
		for (const event of early) this.receive(event);
	}

	#show(chat: Chat): void {
		const { generating, page } = chat;
		const older = olderThan(this.messages, page.messages);
		if (!this.info) this.draft = this.#saver.unsaved ?? chat.draft;
		// Saves the draft that could not be saved while the engine was unreachable.
		void this.#saver.now();
		this.info = chat;
		this.prepending = false;
		if (older.length === 0) this.more = page.more;
		const messages = [...older, ...page.messages];
		this.messages = generating ? withGenerating(messages, generating, chat.characterName) : messages;
		const known = generating !== null && this.reply?.swipe === generating.swipe;
		this.reply?.discard();
		this.reply = generating && new Reply(generating.message, generating.swipe, generating, generating.seq);
		if (chat.drafting) [this.drafting, this.draft, this.#draftSeq] = [true, chat.drafting.text, chat.drafting.seq];
		else if (this.drafting) [this.drafting, this.draft] = [false, chat.draft];
		if (this.drafting) this.activity = { kind: "writing" };
		else if (!generating) this.activity = null;
		else if (generating.text) this.activity = { kind: "writing" };
		else if (!known || !this.busy) this.activity = { kind: "starting" };
	}

	/** Reads the chat anew where nothing is heard of a reply any more: then it goes on, or it has ended meanwhile. */
	#listen(): void {
		this.#silence.run(() => {
			if (!this.busy) return;
			void this.load();
			this.#listen();
		});
	}

	/** A reply stands at its place together with the words it answers, whichever window they were said in. */
	#begin(message: Message, sent: Message | null): void {
		this.failure = null;
		this.prepending = false;
		const messages = put(this.messages, message);
		this.messages = sent ? putBefore(messages, sent, message.id) : messages;
		const swipe = shownSwipe(message);
		if (swipe && this.reply?.swipe !== swipe.id) this.reply = new Reply(message.id, swipe.id, { text: shownWords(swipe), thoughts: swipe.display?.thoughts });
	}

	#token(event: Event & { event: "token" | "thought" }): void {
		const of = event.event === "token" ? "text" : "thoughts";
		// A token of a reply that has not been told of, or a gap: the engine knows the whole text.
		if (this.reply?.swipe !== event.swipe || !this.reply.receive(event.seq, event.text, of)) void this.load();
	}

	#thoughtsClosed(event: Event & { event: "thoughtsClosed" }): void {
		if (this.reply?.swipe !== event.swipe || !this.reply.closeThoughts(event.seq, event.text)) void this.load();
	}

	#end(message: Message | null, reason: (Event & { event: "ended" })["reason"]): void {
		this.reply?.discard();
		this.reply = null;
		this.activity = null;
		if (reason.kind === "failed") this.failure = reason.error;
		if (!message) {
			void this.load();
			return;
		}
		this.messages = put(this.messages, message);
		if (reason.kind !== "failed") this.around.replied(message.name, shownWords(shownSwipe(message)));
		this.around.turned();
		void this.#readAnchor();
	}

	#draftBegun(): void {
		[this.drafting, this.draft, this.draftFigures, this.failure] = [true, "", null, null];
		this.#draftSeq = 0;
	}

	#draftGrown(seq: number, text: string): void {
		if (!this.drafting || seq > this.#draftSeq) void this.load();
		else if (seq === this.#draftSeq) [this.draft, this.#draftSeq] = [this.draft + text, seq + 1];
	}

	#draftEnded({ text, figures, reason }: Event & { event: "drafted" }): void {
		[this.drafting, this.activity, this.draft] = [false, null, text];
		this.draftFigures = text === "" ? null : figures;
		if (reason.kind === "failed") this.failure = reason.error;
		else if (text !== "") this.around.said(t("draft.done", { text }));
		this.around.turned();
	}

	/** The window may have moved with the turn that has ended. */
	async #readAnchor(): Promise<void> {
		const chat = await this.#do(() => this.api.openChat(this.id));
		if (chat && this.info) this.info = { ...this.info, anchor: chat.anchor };
	}

	async #command(draft: string, run: () => Promise<string>): Promise<void> {
		const refused = await run();
		if (refused === "") this.#clear(draft);
		this.commandFailure = refused;
	}

	/** What was typed in the meantime stays. */
	#clear(sent: string): void {
		if (this.draft.startsWith(sent)) this.type(this.draft.slice(sent.length));
	}

	/** Starts a reply; what the call and what the events tell may come in either order. */
	async #start(call: () => Promise<Started>): Promise<Started | null> {
		if (this.busy) return null;
		this.activity = { kind: "starting" };
		this.failure = null;
		this.#stale = true;
		this.#listen();
		try {
			const started = await call();
			this.#stale = true;
			// The reply may have ended before the call returned.
			if (this.activity && !this.reply) this.#begin(started.reply, started.sent);
			else if (started.sent) this.messages = putBefore(this.messages, started.sent, started.reply.id);
			return started;
		} catch (thrown) {
			this.activity = null;
			this.failure = asApiError(thrown);
			return null;
		}
	}

	/** Whether the words are on disk although the reply could not start. */
	async #committed(before: string | undefined, text: string): Promise<boolean> {
		const failure = this.failure;
		await this.load();
		this.failure = failure;
		const last = this.last;
		return last !== undefined && last.id !== before && last.role === "user" && shownSwipe(last)?.text.trim() === text.trim();
	}

	async #change(call: () => Promise<Message>): Promise<Message | null> {
		const message = await this.#do(call);
		this.#stale = true;
		if (message) this.messages = put(this.messages, message);
		return message;
	}

	async #do<T>(call: () => Promise<T>): Promise<T | null> {
		try {
			return await call();
		} catch (thrown) {
			this.around.failed(asApiError(thrown));
			return null;
		}
	}
}
