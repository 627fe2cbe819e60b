import { asApiError } from "../api/errors";
import type { ApiError, Chat, ChatId, Draft, Event, Figures, GroupOptions, MemberState, Message, ModelRef, Persona, QuickReply, QuickReplySet, ReplyTurn, SearchWord, Started } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import { activityOf, type Activity } from "./activity";
import { AutoMode } from "./autoMode.svelte";
import type { Api } from "./api";
import { Attachments } from "./attachments.svelte";
import type { ChatCallbacks } from "./callbacks";
import { ChatFind } from "./chatFind.svelte";
import { ChatPages } from "./chatPages";
import { Impersonation, ReplyStream } from "./chatStreams";
import { ChatCommands } from "./chatCommands";
import { Commands, maybeCommand } from "./commands.svelte";
import { PromptSectionsState } from "./promptSections.svelte";
import { QuickReplies } from "./quickReplies.svelte";
import { Documents } from "./documents.svelte";
import { draftSaver, type DraftSaver } from "./draftSaver";
import { Debounce } from "./debounce";
import { Marks } from "./marks.svelte";
import { MessageEdits } from "./messageEdits.svelte";
import { ModeChoice } from "./mode.svelte";
import { hasSwipe, olderThan, put, putBefore, shownSwipe, withGenerating, withRounds } from "./messages";
import { Reply } from "./reply.svelte";
import { Scenery } from "./scenery.svelte";
import { ChatTexts } from "./chatTexts.svelte";
import { ToolQuestions } from "./toolQuestions.svelte";
import { Versions } from "./versions.svelte";

/** Events of a running reply arrive more often than this. After a longer silence, some may have been lost. */
const SILENCE_MS = 10_000;

/** A message to scroll to. */
export interface RevealTarget {
	id: string;
	/** Does not move the focus. */
	still?: boolean;
	/** The part that has to be visible. Otherwise it is the first marked word, or the whole message, or its first line. */
	edge?: "start" | "end";
	/** Words to mark in the message, because a search has found them. */
	words?: readonly SearchWord[];
}

/** State of an open chat. Everything in it comes from the engine, except the text being typed. */
export class ChatState {
	info = $state.raw<Chat | null>(null);
	messages = $state.raw<Message[]>([]);
	more = $state(false);
	/** Older messages are being prepended, so the list must keep its scroll position. */
	prepending = $state(false);
	reply = $state.raw<Reply | null>(null);
	/** The place of the reply if several characters answer one message. */
	turn = $state.raw<ReplyTurn | null>(null);
	activity = $state.raw<Activity | null>(null);
	/** Error of the first load, if there is nothing to show. */
	openFailure = $state.raw<ApiError | null>(null);
	/** Error of the last reply. */
	failure = $state.raw<ApiError | null>(null);
	/** Reasoning of the model is shown expanded. */
	thoughtsOpen = $state(false);
	/** An endpoint's model is configured to accept pictures. */
	seesPictures = $state(false);
	draft = $state("");
	/** The model is writing the user's next message into the composer. */
	drafting = $state(false);
	/** Token figures of the impersonated draft, until it is changed or sent. */
	draftFigures = $state.raw<Figures | null>(null);
	/** Texts that other windows have for the composer. */
	otherDrafts = $state.raw<Draft[]>([]);
	readonly edits: MessageEdits;
	/** Error text of the last command. */
	commandFailure = $state("");
	/** The message to scroll to. Each request is a new object. */
	target = $state.raw<RevealTarget | null>(null);
	/** The words of another search that are marked in a message, until the next jump. */
	marked = $state.raw<{ id: string; words: readonly SearchWord[] } | null>(null);
	/** The model menu is open. */
	choosingModel = $state(false);
	readonly mode: ModeChoice;
	readonly attached: Attachments;
	readonly documents: Documents;
	readonly texts: ChatTexts;
	readonly scenery: Scenery;
	readonly marks: Marks;
	readonly find: ChatFind;
	/** Questions whether tools may run. */
	readonly tools: ToolQuestions;
	/** The characters talk without the user. */
	readonly auto: AutoMode;
	/** The name of a group, or of the only character. */
	readonly name = $derived((this.info?.group && this.info.title) || (this.info?.characterName ?? ""));
	readonly commands: Commands;
	readonly versions: Versions;
	readonly quickReplies: QuickReplies;
	readonly sections: PromptSectionsState;

	/** The open edit of a message. */
	get editing(): MessageEdits["current"] {
		return this.edits.current;
	}

	readonly last = $derived(this.messages.at(-1));
	readonly busy = $derived(this.activity !== null);
	/** The last message waits for a reply, and none is being written. */
	readonly unanswered = $derived((this.last?.role === "user" || this.last?.role === "event") && !this.busy);
	/** The chat has no messages. The user can let the character start. */
	readonly isEmpty = $derived(this.info !== null && this.last === undefined && !this.busy);
	/** Index of the first message that is sent to the model in full; 0 if all loaded messages are. */
	readonly contextStart = $derived(Math.max(0, this.messages.findIndex(({ id }) => id === this.info?.anchor)));

	#saver: DraftSaver;
	readonly #silence = new Debounce(SILENCE_MS);
	readonly #pages: ChatPages;
	readonly #replies: ReplyStream;
	readonly #impersonation: Impersonation;
	readonly #commandRuns: ChatCommands;
	/** Events that arrive while the chat loads. They are applied afterwards, and those already included have no effect. */
	#queued: Event[] | null = [];
	#reading: Promise<void> | null = null;
	/** The loaded data is outdated, because something changed during the load. */
	#stale = false;

	constructor(
		readonly id: ChatId,
		private readonly api: Api,
		private readonly callbacks: ChatCallbacks,
	) {
		this.mode = new ModeChoice(api, id, (error) => callbacks.failed(error));
		const failed = (error: ApiError) => callbacks.failed(error);
		this.attached = new Attachments(api, failed, { kind: "pictures", owner: id, target: "" });
		this.edits = new MessageEdits(api, id, {
			find: (message) => this.messages.find((known) => known.id === message),
			save: (message, was, text) => this.#saveEdit(message, was, text),
			reload: () => this.load(),
			undoable: (text, undo) => callbacks.undoable(text, undo),
			failed,
		});
		this.documents = new Documents(api, { of: "chat", id }, callbacks);
		this.texts = new ChatTexts(api, id, callbacks);
		this.scenery = new Scenery(api, id);
		this.marks = new Marks(api, id, {
			failed: (error) => callbacks.failed(error),
			undoable: (text, undo) => callbacks.undoable(text, undo),
			announce: (text) => callbacks.announce(text),
			promptChanged: () => callbacks.promptChanged(),
			reload: () => this.#reload(),
		});
		this.versions = new Versions({
			messages: () => this.messages,
			write: async (options) => (await this.#start(() => this.api.regenerateWith(this.id, options))) !== null,
			select: async (message, index) => void (await this.#change(() => this.api.selectSwipe(message.id, index))),
			remove: async (message, index) => void (await this.#change(() => this.api.deleteSwipe(message.id, index))),
		});
		this.auto = new AutoMode(this.#speakNext, () => this.info?.group?.options.autoDelay ?? 0);
		this.commands = new Commands(api, id);
		this.tools = new ToolQuestions(api, id, (error) => callbacks.failed(error));
		this.find = new ChatFind(api, id, (message) => this.#pages.reveal({ id: message, still: true }));
		this.sections = new PromptSectionsState(api, id, callbacks);
		this.quickReplies = new QuickReplies(api, id, (error) => callbacks.failed(error));
		this.#pages = new ChatPages(this, api, (call) => this.#do(call));
		this.#replies = new ReplyStream(this, callbacks);
		this.#impersonation = new Impersonation(this, api, callbacks);
		this.#commandRuns = new ChatCommands(this, callbacks);
		this.#saver = draftSaver(api, id, { failed, others: (drafts) => (this.otherDrafts = drafts) });
	}

	/** Loads the chat, including the reply that is being written. */
	load(): Promise<void> {
		this.#stale = true;
		this.#reading ??= this.#read().finally(() => (this.#reading = null));
		return this.#reading;
	}

	/** Loads the settings for the display of the chat. If that fails, the defaults apply. */
	async loadDisplaySettings(): Promise<void> {
		const all = await this.api.layeredSettings({ scope: "chat", id: this.id }).catch(() => null);
		const on = (name: string) => all?.settings.find(({ key }) => key === name)?.value === true;
		[this.thoughtsOpen, this.seesPictures] = [on("show_thoughts"), on("sees_images")];
		await this.scenery.use(all);
	}

	receive = (event: Event): void => {
		this.#watchForSilence();
		if (this.#queued) {
			this.#queued.push(event);
			return;
		}
		this.activity = activityOf(event) ?? this.activity;
		if (event.event === "started") {
			this.turn = event.turn ?? null;
			this.#replies.begin(event.message, event.sent);
		}
		else if (event.event === "token" || event.event === "thought") this.#replies.token(event);
		else if (event.event === "thoughtsClosed") this.#replies.thoughtsClosed(event);
		else if (event.event === "toolsUsed") this.messages = withRounds(this.messages, event);
		else if (event.event === "toolAsked") this.tools.asked(event);
		else if (event.event === "toolAnswered") this.tools.answered(event);
		else if (event.event === "ended") {
			this.#replies.end(event);
			// The new swipe may have token probabilities.
			if (event.message) void this.marks.load();
			if (!event.following) this.auto.replied(event.message !== null && (event.reason.kind === "stop" || event.reason.kind === "length"));
		}
		else if (event.event === "vision") this.info = this.info && { ...this.info, vision: event.status };
		else if (event.event === "quickReplyRan") void this.#commandRuns.ranAlone(event.label, event.outcomes);
		else if (event.event === "drafting") this.#impersonation.begin();
		else if (event.event === "draft") this.#impersonation.receive(event.seq, event.text);
		else if (event.event === "drafted") {
			this.#saver.known = event.text;
			this.#impersonation.end(event);
		}
	};

	type(text: string): void {
		this.draft = text;
		this.draftFigures = null;
		this.commandFailure = "";
		this.commands.clear();
		void this.commands.complete(text);
		this.#saver.later(text);
	}

	/** Sends the text in the composer, or runs it as a command. The text stays there until the engine has stored it. */
	async send(): Promise<void> {
		const draft = this.draft;
		const pictures = this.attached.all;
		if ((draft.trim() === "" && pictures.length === 0) || this.attached.uploading > 0) return;
		if (maybeCommand(draft)) return this.#commandRuns.run(draft, pictures);
		if (this.busy) return;
		const send = async () => {
			// The engine removes only the text from the composer that it finds there.
			await this.#saver.now();
			return pictures.length === 0 ? this.api.sendMessage(this.id, draft) : this.api.sendPictures(this.id, draft, pictures);
		};
		const started = await this.#start(send);
		if (!started) return;
		this.#commandRuns.clear(draft);
		this.attached.sent(pictures);
	}

	/** Runs a quick reply. Returns whether it changed the text in the composer. */
	runQuickReply = (set: QuickReplySet, reply: QuickReply): Promise<boolean> => this.#commandRuns.runQuickReply(set, reply);

	/** Sets the mode and returns an error text; empty on success. */
	async setMode(name: string): Promise<string> {
		const refused = await this.mode.set(name);
		if (refused === "") {
			this.callbacks.announce(t("mode.now", { name: this.mode.name }));
			this.callbacks.promptChanged();
		}
		return refused;
	}

	regenerate = (): Promise<unknown> => this.#start(() => this.api.regenerate(this.id));

	continueReply = (): Promise<unknown> => this.#start(() => this.api.continueReply(this.id));

	/** Writes another version of the last reply that has an alternative in the place of one of its tokens. */
	continueFromToken = (token: number, alternative: number): Promise<unknown> => this.#start(() => this.api.continueFromToken(this.id, token, alternative));

	/** Lets the model write the user's next message into the empty composer. It is not sent. */
	impersonate = async (): Promise<void> => {
		if (this.busy || this.draft !== "") return;
		await this.#impersonation.start(() => this.#saver.now());
	};

	/** Requests a reply by a participant; without an id, by the narrator. */
	letSpeak = (speaker: string | null): Promise<unknown> => this.#start(() => this.api.letSpeak(this.id, speaker));

	async setMembers(characters: string[]): Promise<void> {
		await this.#do(() => this.api.setMembers(this.id, characters));
		this.callbacks.promptChanged();
		await this.load();
	}

	/** Sets how the characters of the group take turns. */
	async setGroup(options: GroupOptions): Promise<void> {
		await this.#do(() => this.api.setGroup(this.id, options));
		await this.load();
	}

	/** Mutes a character, or marks it as away. */
	async setMember({ id, muted, away }: MemberState): Promise<void> {
		await this.#do(() => this.api.setMember(this.id, id, muted, away));
		this.callbacks.promptChanged();
		this.#stale = true;
		await this.load();
	}

	/** Lets a character know everything that was said while it was away. */
	async letMemberKnow(id: string): Promise<void> {
		await this.#do(() => this.api.letMemberKnow(this.id, id));
		this.callbacks.promptChanged();
		await this.load();
	}

	stop = (): Promise<unknown> => {
		this.auto.stop();
		return this.#do(() => this.api.stop(this.id));
	};

	/** Shows the next or previous swipe. After the last swipe of the newest reply, a new one is generated. */
	async swipe(message: Message, step: 1 | -1): Promise<void> {
		const index = message.selected + step;
		if (this.busy || index < 0) return;
		if (index < message.swipes.length) {
			await this.#change(() => this.api.selectSwipe(message.id, index));
		} else if (this.canRegenerate(message)) {
			await this.regenerate();
		}
	}

	/** Whether the message can be regenerated: only the last one can. */
	canRegenerate(message: Message): boolean {
		return message.canRegenerate && message.id === this.last?.id;
	}

	/** Edits the user's last message. Returns whether there is one. */
	editLastOwn(): boolean {
		const own = this.messages.findLast((message) => message.role === "user");
		if (own) this.edits.open(own);
		return own !== undefined;
	}

	/** Makes the reasoning of a reply without text its text. */
	async useThoughts(message: Message): Promise<void> {
		const thoughts = shownSwipe(message)?.display?.thoughts.trim() ?? "";
		if (thoughts !== "") await this.#change(() => this.api.editMessage(message.id, thoughts));
	}

	async remove(message: Message): Promise<void> {
		const gone = await this.#do(() => this.api.deleteMessage(message.id).then(() => true));
		if (!gone) return;
		this.#stale = true;
		this.messages = this.messages.filter((known) => known.id !== message.id);
		void this.scenery.refresh();
		this.callbacks.deleted(async () => {
			await this.#do(() => this.api.restoreMessage(message.id));
			await this.load();
		});
	}

	loadOlder = (): Promise<void> => this.#pages.loadOlder();

	/** Scrolls to a message, and loads older ones until it is found. */
	reveal = (id: string, words?: readonly SearchWord[]): Promise<void> => this.#pages.reveal({ id, words });

	/** Scrolls to the first message of the chat. */
	revealFirst = (): Promise<void> => this.#pages.revealFirst();

	/** Scrolls to the first message on or after a day, or to the last message if there is none. */
	revealDate = (day: Date): Promise<void> => this.#pages.revealDate(day);

	async pin(message: Message, pinned: boolean): Promise<void> {
		if (await this.#change(() => this.api.pinMessage(message.id, pinned))) this.callbacks.promptChanged();
	}

	/** Starts a new context: older messages are no longer sent in full. */
	async newScene(): Promise<void> {
		const done = await this.#do(() => this.api.newScene(this.id).then(() => true));
		if (!done) return;
		this.callbacks.announce(t("chat.sceneBegun"));
		this.callbacks.promptChanged();
		await this.load();
	}

	async setModel(model: ModelRef | null): Promise<void> {
		await this.#do(() => this.api.setChatModel(this.id, model));
		if (this.info) this.info = { ...this.info, model };
		await this.loadDisplaySettings();
	}

	async setPersona(persona: Persona): Promise<void> {
		await this.#do(() => this.api.setChatPersona(this.id, persona.id));
		if (this.info) this.info = { ...this.info, persona, nameKept: null, asksName: false };
	}

	/** Creates a persona from the user's name in an imported chat, and selects it for this chat. */
	async personaFromChat(): Promise<void> {
		const persona = await this.#do(() => this.api.personaFromChat(this.id));
		if (persona && this.info) this.info = { ...this.info, persona, nameKept: null, asksName: false };
	}

	dismissFailure = (): void => void (this.failure = null);

	/** Shows the text of another window in the composer. The one that was there becomes a draft. */
	async useOtherDraft({ text }: Draft): Promise<void> {
		await this.#saver.now();
		// The engine keeps a stored text as a draft if the next one does not name it.
		this.#saver.known = "";
		this.type(text);
		await this.#saver.now();
	}

	async discardOtherDraft({ id }: Draft): Promise<void> {
		this.otherDrafts = this.otherDrafts.filter((other) => other.id !== id);
		await this.#do(() => this.api.discardDraft(id));
	}

	/** The loaded data is no longer that of the engine. */
	outdated = (): void => void (this.#stale = true);

	/** Must be called before another chat is shown. */
	async close(): Promise<void> {
		this.auto.stop();
		this.find.close();
		this.#silence.cancel();
		this.reply?.discard();
		await Promise.all([this.#saver.now(), this.edits.keep()]);
	}

	/** Reads the messages anew, because their number or order has changed. */
	async #reload(): Promise<void> {
		this.messages = [];
		await this.load();
	}

	async #read(): Promise<void> {
		this.#queued ??= [];
		while (this.#stale) {
			this.#stale = false;
			try {
				// The text that was typed before the chat was left may still be on its way.
				if (!this.info && !this.#saver.idle) await this.#saver.settled();
				const chat = await this.api.openChat(this.id);
				this.openFailure = null;
				if (!this.#stale) this.#show(chat);
				void this.scenery.refresh();
			} catch (thrown) {
				// A chat that is already shown stays open, so that the draft is not lost.
				if (this.info) this.failure ??= asApiError(thrown);
				else this.openFailure = asApiError(thrown);
			}
		}
		const queued = this.#queued;
		this.#queued = null;
		for (const event of queued) this.receive(event);
	}

	#show(chat: Chat): void {
		const { generating, page } = chat;
		const older = olderThan(this.messages, page.messages);
		if (!this.info) this.#restore(chat.draft);
		// Saves the draft that could not be saved while the engine was unreachable.
		void this.#saver.now();
		this.info = chat;
		void this.marks.load();
		if (generating) void this.tools.load();
		this.prepending = false;
		if (older.length === 0) this.more = page.more;
		const messages = [...older, ...page.messages];
		this.messages = generating ? withGenerating(messages, generating, chat.characterName) : messages;
		const known = generating !== null && this.reply?.swipe === generating.swipe;
		this.reply?.discard();
		this.turn = generating?.turn ?? null;
		this.reply = generating && new Reply(generating.message, generating.swipe, generating, generating.seq);
		this.#impersonation.show(chat);
		if (this.drafting) this.activity = { kind: "writing" };
		else if (!generating) this.activity = null;
		else if (generating.text) this.activity = { kind: "writing" };
		else if (!known || !this.busy) this.activity = { kind: "starting" };
	}

	/** Shows what was typed in this chat before, here or in a window that was closed. */
	#restore(draft: string): void {
		if (this.#saver.unsaved === null) this.#saver.known = draft;
		this.draft = this.#saver.unsaved ?? draft;
		void this.attached.restore();
		void this.edits.restore();
		void this.api.drafts("composer", this.id).then(
			(drafts) => (this.otherDrafts = drafts ?? []),
			() => {},
		);
	}

	/** Saves an edit. `null` if it failed, `false` if the text is no longer `was`. */
	async #saveEdit(message: string, was: string, text: string): Promise<boolean | null> {
		let changed = false;
		const saved = await this.#change(async () => {
			const edited = await this.api.editMessageFrom(message, was, text);
			changed = edited === null;
			return edited;
		});
		if (saved) void this.marks.load();
		return changed ? false : saved && true;
	}

	/** Loads the chat again if no event of a running reply arrives: the reply continues, or it has ended unnoticed. */
	#watchForSilence(): void {
		this.#silence.run(() => {
			if (!this.busy) return;
			void this.load();
			this.#watchForSilence();
		});
	}

	/** Starts the reply of the character that goes on without the user. Returns whether anybody does. */
	#speakNext = async (): Promise<boolean> => {
		if (this.busy) return true;
		const nobody = { sent: null, reply: null };
		const started = await this.#start(() => this.api.speakNext(this.id).then((started) => started ?? nobody));
		if (started && !started.reply) this.activity = null;
		return Boolean(started?.reply);
	};

	/** Starts a reply. The result of the call and the events may arrive in either order. */
	async #start(call: () => Promise<Started>): Promise<Started | null> {
		if (this.busy) return null;
		this.activity = { kind: "starting" };
		this.failure = null;
		this.#stale = true;
		this.#watchForSilence();
		try {
			const started = await call();
			this.#stale = true;
			const { reply, sent } = started;
			// The reply may have ended before the call returned. Without a reply, the event of its end says why.
			const known = reply !== null && hasSwipe(this.messages, reply);
			if (reply && this.activity && !this.reply && !known) this.#replies.begin(reply, sent);
			else if (reply && sent) this.messages = putBefore(this.messages, sent, reply.id);
			else if (sent) {
				// In this group, nobody answers without being called upon.
				this.activity = null;
				this.messages = put(this.messages, sent);
			}
			return started;
		} catch (thrown) {
			this.activity = null;
			this.failure = asApiError(thrown);
			return null;
		}
	}

	async #change(call: () => Promise<Message | null>): Promise<Message | null> {
		const message = await this.#do(call);
		this.#stale = true;
		if (message) this.messages = put(this.messages, message);
		void this.scenery.refresh();
		return message;
	}

	async #do<T>(call: () => Promise<T>): Promise<T | null> {
		try {
			return await call();
		} catch (thrown) {
			this.callbacks.failed(asApiError(thrown));
			return null;
		}
	}
}
