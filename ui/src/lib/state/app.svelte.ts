import { SvelteSet } from "svelte/reactivity";
import { asApiError } from "../api/errors";
import type { ApiError, CardFormat, Changed, CharacterSummary, ChatFileFormat, DocumentOwner, Event, ImportReport, Memory, ModelRef, Origin, PromptFile, Startup } from "../api/generated";
import type { Connection, Transport } from "../api/transport";
import { t } from "../i18n/i18n.svelte";
import { api, type Api } from "./api";
import { Books } from "./books/books.svelte";
import { ChatState } from "./chat.svelte";
import { ChatDeletion } from "./deletion.svelte";
import { Documents } from "./documents.svelte";
import { Editor } from "./editor.svelte";
import type { TextField } from "./fields";
import { folded } from "./find";
import { FolderImport } from "./folder.svelte";
import { ImportNews } from "./imports";
import { Chats, Library } from "./library.svelte";
import { Look } from "./look.svelte";
import { takeFirstLearned } from "./memory/firstLearned";
import { Memories } from "./memory/memories.svelte";
import { Models } from "./models.svelte";
import { SettingsState } from "./settings.svelte";
import { Links } from "./links.svelte";
import { Zoom } from "./zoom";
import { Toasts } from "./toasts.svelte";
import { allowPictures } from "../text/pictures";
import { Formats } from "./prompts/formats.svelte";
import { Samplers } from "./prompts/samplers.svelte";
import { Shelf } from "./prompts/shelf.svelte";
import { Templates } from "./prompts/templates.svelte";
import { placeOf } from "./xray/jump";
import { Xray } from "./xray/xray.svelte";

export type Screen = "chats" | "people" | "books" | "prompts" | "models" | "settings";

/** Where the screen of prompts begins. */
export type PromptsPlace = { tab: "templates"; id?: string; section?: string } | { tab: "modes"; name?: string } | { tab: "samplers" } | { tab: "formats" } | { tab: "scripts" };

/** The window: which screen, which chat, and everything they share. */
export class App {
	readonly api: Api;
	readonly look = new Look();
	readonly toasts = new Toasts();
	readonly library: Library;
	readonly chats: Chats;
	readonly models: Models;
	readonly settings: SettingsState;
	readonly xray: Xray;
	readonly memories: Memories;
	readonly templates: Templates;
	readonly shelf: Shelf;
	readonly samplers: Samplers;
	readonly formats: Formats;
	readonly books: Books;
	readonly folder: FolderImport;
	readonly deletion: ChatDeletion;
	readonly links: Links;
	/** `null` outside the desktop window. */
	readonly zoom: Zoom | null;

	screen = $state<Screen>("chats");
	chat = $state.raw<ChatState | null>(null);
	editor = $state.raw<Editor | null>(null);
	prompts = $state.raw<PromptsPlace>({ tab: "templates" });
	startup = $state.raw<Startup | null>(null);
	startFailure = $state.raw<ApiError | null>(null);
	connection = $state<Connection>("connecting");
	/** The settings of the open chat are shown beside it. */
	tuning = $state(false);
	/** The one of them to begin with. */
	tuned = $state("");
	/** Files are being dragged over the window. */
	dropping = $state(false);
	/** On a narrow window list and chat are two screens; this one shows the chat. */
	inChat = $state(true);
	/** Rises whenever texts are attached or removed somewhere. */
	documentNews = $state(0);
	/** What a screen reader hears next. */
	announced = $state("");
	/** Chats in which a reply is being written. */
	readonly writing = new SvelteSet<string>();
	/** Increases after each import. */
	importNews = $state(0);
	/** What an import did, where the user looks at it. */
	imported = $state.raw<ImportReport | null>(null);
	/** Lists of memories beside that of the panel. */
	readonly #watched = new SvelteSet<Memories>();
	readonly #imports = new ImportNews(this.toasts, {
		talk: (id, kind) => void (kind === "chat" ? this.openChat(id) : this.talkTo(id)),
		openBook: (book) => this.openBook(book),
		show: (report) => (this.imported = report),
	});

	constructor(shell: Transport) {
		this.api = api(shell);
		this.library = new Library(this.api);
		this.chats = new Chats(this.api);
		this.models = new Models(this.api);
		this.settings = new SettingsState(this.api, this.look, this.fail);
		this.xray = new Xray(this.api);
		this.memories = this.memoriesOf();
		this.templates = new Templates(this.api);
		this.shelf = new Shelf(this.api, this.fail);
		this.samplers = new Samplers(this.api);
		this.formats = new Formats(this.api);
		this.books = new Books(this.api);
		this.folder = new FolderImport(this.api, { announce: (text) => (this.announced = text), attempt: (action) => this.attempt(action) });
		this.zoom = shell.desktop ? new Zoom((factor) => this.attempt(() => shell.setZoom(factor))) : null;
		this.links = new Links((address) => this.attempt(() => shell.openLink(address)));
		allowPictures(shell.assetBase);
		this.deletion = new ChatDeletion(this.api, { attempt: (action) => this.attempt(action), deleted: (id, title) => this.#chatDeleted(id, title) });
	}

	/** Begins to listen and draws the first screen; the returned function ends it. */
	start(): () => void {
		const { shell } = this.api;
		const unsubscribe = shell.subscribe(this.receive, (state) => (this.connection = state));
		const unwatch = shell.watchDrops({
			over: (is) => (this.dropping = is),
			dropped: (files) => void this.attempt(() => shell.importFiles(files)),
		});
		void this.load();
		return () => {
			unsubscribe();
			unwatch();
		};
	}

	/** Copies `text` to the clipboard and shows a toast. */
	copy = (text: string): Promise<unknown> =>
		this.attempt(async () => {
			await navigator.clipboard.writeText(text);
			this.toasts.show({ kind: "news", text: t("toast.copied") }, 2_500);
		});

	load = async (): Promise<void> => {
		this.startFailure = null;
		try {
			const startup = await this.api.startup();
			this.settings.show(startup.settings);
			if (startup.chat) await this.openChat(startup.chat);
			this.startup = startup;
			for (const notice of startup.notices) this.toasts.show({ kind: "news", text: notice }, Infinity);
			await this.#refreshAll();
		} catch (thrown) {
			this.startFailure = asApiError(thrown);
		}
	};

	fail = (error: ApiError): void => this.toasts.fail(error);

	receive = (event: Event): void => {
		if (event.event === "changed") void this.#changed(event.what, event.id);
		else if (event.event === "imported") {
			this.importNews += 1;
			this.#imports.heard(event.report);
		}
		else if (event.event === "importing") this.folder.moved(event.progress);
		else if (event.event === "importEnded") {
			this.importNews += 1;
			this.folder.ended(event.report);
		}
		else if (event.event === "missed") void this.#reload();
		else this.#heard(event);
	};

	async openChat(id: string): Promise<void> {
		this.screen = "chats";
		this.inChat = true;
		if (this.chat?.id === id) return;
		void this.chat?.close();
		this.xray.close();
		this.chat = new ChatState(id, this.api, {
			deleted: (undo) => this.undoable(t("toast.messageDeleted"), undo),
			detached: (name, undo) => this.undoable(t("toast.documentRemoved", { name }), undo),
			failed: this.fail,
			replied: (name, text) => (this.announced = `${name}: ${text}`),
			said: (text) => (this.announced = text),
			turned: () => this.#turned(id),
		});
		void this.chat.readTastes();
		await Promise.all([this.chat.load(), this.chat.mode.load()]);
	}

	/** Opens the newest chat with a character, or the first one. */
	async talkTo(character: string): Promise<void> {
		const known = this.chats.newestOf(character);
		await (known ? this.openChat(known.id) : this.newChat(character));
	}

	async newChat(character: string): Promise<void> {
		await this.attempt(async () => {
			const chat = await this.api.newChat(character);
			await this.openChat(chat.id);
		});
	}

	async renameChat(id: string, title: string): Promise<void> {
		await this.attempt(() => this.api.renameChat(id, title));
		if (this.chat?.id === id && this.chat.info) this.chat.info = { ...this.chat.info, title };
		await this.chats.load();
	}

	/** `name` is that of the only one, or of the first. */
	async deleteCharacters(ids: string[], name: string): Promise<void> {
		await this.attempt(async () => {
			await this.api.deleteCharacters(ids);
			this.editor = null;
			if (ids.includes(this.chat?.info?.character ?? "")) this.#leaveChat();
			await this.#refreshLists();
			const text = ids.length === 1 ? t("toast.characterDeleted", { name }) : t("toast.charactersDeleted", { count: ids.length });
			this.undoable(text, async () => {
				await this.api.restoreCharacters(ids);
				await this.#refreshLists();
			});
		});
	}

	async setFavourites(ids: string[], favourite: boolean): Promise<void> {
		await this.attempt(async () => {
			await this.api.setFavourites(ids, favourite);
			await this.library.load();
		});
	}

	/** Undoing gives a card back the tags that were taken, and takes those that were new to it. */
	async tagCharacters(cards: readonly CharacterSummary[], add: string[], remove: string[]): Promise<void> {
		const ids = cards.map(({ id }) => id);
		const has = (card: CharacterSummary, tag: string) => card.tags.some((known) => folded(known) === folded(tag));
		await this.attempt(async () => {
			await this.api.tagCharacters(ids, add, remove);
			await this.library.load();
			this.undoable(t("toast.tagged", { count: ids.length }), async () => {
				for (const tag of add) await this.api.tagCharacters(cards.filter((card) => !has(card, tag)).map(({ id }) => id), [], [tag]);
				for (const tag of remove) await this.api.tagCharacters(cards.filter((card) => has(card, tag)).map(({ id }) => id), [tag], []);
				await this.library.load();
			});
		});
	}

	async exportCharacter(id: string, format: CardFormat): Promise<void> {
		await this.attempt(async () => {
			const place = await this.api.shell.exportCharacter(id, format);
			if (place) this.toasts.show({ kind: "news", text: t("toast.exported"), detail: place });
		});
	}

	async exportCharacters(ids: string[], format: CardFormat): Promise<void> {
		await this.attempt(async () => {
			const place = await this.api.shell.exportCharacters(ids, format);
			if (place) this.toasts.show({ kind: "news", text: t("toast.exportedMany", { count: ids.length }), detail: place });
		});
	}

	async exportChat(id: string, format: ChatFileFormat): Promise<void> {
		await this.attempt(async () => {
			const place = await this.api.shell.exportChat(id, format);
			if (place) this.toasts.show({ kind: "news", text: t("toast.exported"), detail: place });
		});
	}

	async exportPromptFile(kind: PromptFile, id: string): Promise<void> {
		await this.attempt(async () => {
			const place = await this.api.shell.exportPromptFile(kind, id);
			if (place) this.toasts.show({ kind: "news", text: t("toast.exported"), detail: place });
		});
	}

	/** Lets the user choose chats to import for a character. What came in is told by an event. */
	importChats = (character: string): Promise<void> => this.attempt(() => this.api.shell.pickChats(character));

	async setDefaultModel(model: ModelRef): Promise<void> {
		await this.settings.set({ defaultModel: model });
		await this.attempt(() => this.models.load());
	}

	/** Opens the editor, at `field` or at an entry of the lorebook where one is named. */
	edit(character: string | null, field: TextField | null = null, entry: string | null = null): void {
		this.screen = "people";
		this.editor = new Editor(this.api, character, field, entry);
		void this.editor.load();
	}

	/** Goes to where a block of a prompt comes from. */
	follow(origin: Origin): void {
		const place = placeOf(origin);
		const character = origin.of === "card" ? origin.character : this.chat?.info?.character;
		if (place?.to === "card" && character) this.edit(character, place.field);
		else if (origin.of === "lore") void this.#openLore(origin.book, origin.entry, character);
		else if (place?.to === "memory") this.remember(place.id);
		else if (place?.to === "message") this.#reveal(place.id);
		else if (place?.to === "template") this.openPrompts({ tab: "templates", id: place.template, section: place.section });
		else if (place?.to === "mode") this.openPrompts({ tab: "modes", name: place.name });
		else if (place?.to === "setting") this.tune(place.key);
		else if (place?.to === "chatText") this.tune(`text-${place.field}`);
		else if (place?.to === "document") void this.#openDocument(place.id);
		else if (place?.to === "persona") this.go("settings");
	}

	/** Where a text is attached, it is listed. */
	async #openDocument(id: string): Promise<void> {
		await this.attempt(async () => {
			const { owner } = await this.api.getDocument(id);
			if (owner.of === "chat") this.tune(`document-${id}`);
			else if (owner.of === "lorebook") {
				this.openBook(owner.id);
				this.books.tab = "about";
			} else {
				this.edit(owner.id);
				if (this.editor) this.editor.beginning = "documents";
			}
		});
	}

	/** Opens a lorebook, at an entry where one is named; one in a card goes by the id of its character. */
	openBook(id: string, entry: string | null = null): void {
		this.go("books");
		void this.books.open(id, entry);
	}

	/** A prompt tells of books by their names; one that is in no list is the card's own. */
	async #openLore(name: string, entry: string, character: string | undefined): Promise<void> {
		await this.attempt(async () => {
			await this.books.load();
			const book = this.books.all.find((one) => one.character === null && one.name === name);
			if (book) this.openBook(book.id, entry);
			else if (character) this.edit(character, null, entry);
		});
	}

	/** Shows a setting of the open chat beside it. */
	tune(key: string): void {
		this.xray.close();
		this.memories.close();
		[this.screen, this.inChat, this.tuning, this.tuned] = ["chats", true, true, key];
	}

	/** Shows what is remembered beside the open chat, at one memory where one is named. */
	remember(memory: string | null = null): void {
		this.xray.close();
		[this.screen, this.inChat, this.tuning] = ["chats", true, false];
		this.memories.show(memory);
	}

	/** Leads to a message in whichever chat it was said. */
	async showMessage(chat: string, message: string): Promise<void> {
		await this.openChat(chat);
		if (this.chat?.id === chat) this.#reveal(message);
	}

	openPrompts(place: PromptsPlace): void {
		this.go("prompts");
		this.prompts = place;
	}

	go(screen: Screen): void {
		this.screen = screen;
		this.inChat = false;
		this.editor = null;
	}

	/** Lets the user choose cards. What came in is told by an event, whichever door it came through. */
	import = (): Promise<void> => this.attempt(() => this.api.shell.pickImport());

	/** Runs `action`; what goes wrong is told at the window's edge. */
	async attempt(action: () => Promise<unknown>): Promise<void> {
		try {
			await action();
		} catch (thrown) {
			this.fail(asApiError(thrown));
		}
	}

	#heard(event: Exclude<Event, { event: "changed" | "imported" | "importing" | "importEnded" | "missed" }>): void {
		if (event.event === "started") this.writing.add(event.chat);
		if (event.event === "ended") this.writing.delete(event.chat);
		if (event.chat !== this.chat?.id) return;
		if (event.event === "remembered") this.#remembered(event.memory);
		else if (event.event === "forgot") this.undoable(t("toast.forgot", { text: event.memory.text }), () => this.api.restoreMemory(event.memory.id));
		else this.chat.receive(event);
	}

	#remembered({ id, text, origin }: Memory): void {
		const explained = origin === "model" && takeFirstLearned();
		this.undoable(t("toast.remembered", { text }), () => this.api.deleteMemory(id), explained ? t("toast.firstLearned") : undefined);
	}

	async #changed(what: Changed, id: string | null): Promise<void> {
		const { chat } = this;
		await this.attempt(async () => {
			if (what === "characters") await this.#characterChanged(id);
			else if (what === "chats") await this.#chatsChanged();
			else if (what === "models" || what === "endpoints") await this.models.load();
			else if (what === "messages") await Promise.all([chat?.id === id && !chat?.busy ? chat?.load() : undefined, this.#memoriesChanged()]);
			else if (what === "memories") await this.#memoriesChanged();
			else if (what === "lorebooks") await Promise.all([this.books.changed(id), this.#memoriesChanged()]);
			else if (what === "documents") {
				this.documentNews += 1;
				await (chat?.id === id ? chat.documents.load() : undefined);
			}
			else if (what === "presets") await Promise.all([this.templates.load(), chat?.mode.load()]);
			else {
				if (what === "settings") {
					this.settings.news += 1;
					void chat?.readTastes();
				}
				await Promise.all([this.settings.load(), chat?.mode.load()]);
			}
		});
	}

	async #memoriesChanged(): Promise<void> {
		await Promise.all([this.memories, ...this.#watched].map((memories) => memories.changed()));
	}

	/** The open chat may have been named. */
	async #chatsChanged(): Promise<void> {
		await this.chats.load();
		const { chat } = this;
		const title = this.chats.all.find(({ id }) => id === chat?.id)?.title;
		if (chat?.info && title !== undefined && title !== chat.info.title) chat.info = { ...chat.info, title };
	}

	async #chatDeleted(id: string, title: string): Promise<void> {
		if (this.chat?.id === id) this.#leaveChat();
		await this.chats.load();
		this.undoable(t("toast.chatDeleted", { title }), async () => {
			await this.api.restoreChat(id);
			await this.chats.load();
			await this.openChat(id);
		});
	}

	/** A new name or picture shows in the lists and in the open chat. */
	async #characterChanged(id: string | null): Promise<void> {
		const { chat } = this;
		const shown = id !== null && chat?.info?.character === id && !chat.busy;
		await Promise.all([this.#refreshLists(), shown ? chat.load() : undefined]);
	}

	async #reload(): Promise<void> {
		this.writing.clear();
		if (this.startFailure || !this.startup) await this.load();
		else await this.attempt(() => Promise.all([this.#refreshAll(), this.chat?.load()]));
	}

	async #refreshAll(): Promise<void> {
		await Promise.all([this.#refreshLists(), this.models.load(), this.settings.load(), this.folder.load()]);
	}

	async #refreshLists(): Promise<void> {
		await Promise.all([this.library.load(), this.chats.load()]);
	}

	/** Keeps another list of memories up to date while it is shown; the returned function ends it. */
	watchMemories(memories: Memories): () => void {
		memories.open = true;
		this.#watched.add(memories);
		return () => {
			this.#watched.delete(memories);
			memories.close();
		};
	}

	/** The texts of a character or a lorebook. */
	documentsOf(owner: DocumentOwner): Documents {
		return new Documents(this.api, owner, {
			detached: (name, undo) => this.undoable(t("toast.documentRemoved", { name }), undo),
			failed: this.fail,
			said: (text) => (this.announced = text),
			turned: () => this.chat && this.#turned(this.chat.id),
		});
	}

	/** The next prompt of a chat is another one than before. */
	#turned(chat: string): void {
		this.xray.turned(chat);
		this.memories.turned(chat);
	}

	/** A list of memories that tells at the window's edge what was done. */
	memoriesOf(): Memories {
		return new Memories(this.api, {
			failed: this.fail,
			forgot: (text, undo) => this.undoable(t("toast.forgot", { text }), undo),
			forgotMany: (count, undo) => this.undoable(t("toast.forgotMany", { count }), undo),
			merged: (undo) => this.undoable(t("toast.merged"), undo),
			archived: (count, undo) => (count > 0 ? this.undoable(t("toast.archived", { count }), undo) : this.toasts.show({ kind: "news", text: t("toast.inOrder"), detail: "" })),
			took: ({ added, known, worldless, refused }) => {
				const elsewhere = worldless.map((text) => t("toast.worldless", { text }));
				this.toasts.show({ kind: refused.length > 0 ? "bad" : "news", text: t("toast.took", { count: added, known }), detail: [...elsewhere, ...refused].join("\n") });
			},
		});
	}

	async exportMemories(character: string): Promise<void> {
		await this.attempt(async () => {
			const place = await this.api.shell.exportMemories(character);
			if (place) this.toasts.show({ kind: "news", text: t("toast.exported"), detail: place });
		});
	}

	#reveal(message: string): void {
		this.screen = "chats";
		this.inChat = true;
		this.xray.narrow();
		// On a narrow window the panel lies over the chat.
		if (matchMedia("(max-width: 1100px)").matches) {
			this.xray.close();
			this.memories.close();
		}
		void this.chat?.reveal(message);
	}

	#leaveChat(): void {
		this.chat = null;
		this.inChat = false;
		this.xray.close();
		this.memories.close();
	}

	/** Restores the last deletion on Ctrl+Z, once. */
	#undo: (() => Promise<void>) | null = null;

	/** Clears the undo of the last deletion, because the item was deleted permanently. */
	forgetUndo(): void {
		this.#undo = null;
	}

	/** Undoes the last deletion; `false` if there is none. */
	undoLast(): boolean {
		const undo = this.#undo;
		this.#undo = null;
		if (undo) void this.attempt(undo);
		return undo !== null;
	}

	/** Tells that something is done, and what there is to `explain`, which takes its time to be read; `undo` undoes it. */
	undoable(text: string, undo: () => Promise<void>, explain?: string): void {
		const once = async () => {
			if (this.#undo === once) this.#undo = null;
			this.toasts.dismiss(toast);
			await undo();
		};
		this.#undo = once;
		const action = { label: t("common.undo"), undo: true, run: () => void this.attempt(once) };
		const toast = explain === undefined ? this.toasts.show({ kind: "news", text, action }) : this.toasts.show({ kind: "news", text, detail: explain, action }, Infinity);
	}
}
