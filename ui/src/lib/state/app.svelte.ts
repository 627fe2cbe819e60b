import { tick } from "svelte";
import { SvelteSet } from "svelte/reactivity";
import { asApiError } from "../api/errors";
import type { ApiError, CharacterId, ChatFileFormat, ChatId, DocumentOwner, Event, ImportReport, MessageId, ModelRef, Origin, PromptFile, ReadableOptions, SearchWord, Startup } from "../api/generated";
import type { Connection, Transport } from "../api/transport";
import { t } from "../i18n/i18n.svelte";
import { api, type Api } from "./api";
import { pastedPictures } from "./attachments.svelte";
import { BackgroundStrength } from "./backgroundStrength.svelte";
import { Books } from "./books/books.svelte";
import { CharacterActions } from "./characterActions";
import { ChatState } from "./chat.svelte";
import { SHOWN_PARTS } from "./chatExport.svelte";
import { ChatDeletion, type ChatToDelete } from "./deletion.svelte";
import { Documents } from "./documents.svelte";
import { Editor } from "./editor.svelte";
import { EncryptionHint } from "./encryptionHint.svelte";
import { EncryptionState } from "./encryption.svelte";
import { EngineEvents } from "./events";
import type { TextField } from "./fields";
import { FolderImport } from "./folderImport.svelte";
import { Folders } from "./folders.svelte";
import { Forgetting } from "./forgetting.svelte";
import { Palette } from "../actions/palette.svelte";
import { Shortcuts } from "../actions/shortcuts.svelte";
import { Help } from "./help.svelte";
import { MessageSearch } from "./messageSearch.svelte";
import { Chats, Library } from "./library.svelte";
import { Look } from "./look.svelte";
import { Memories } from "./memory/memories.svelte";
import { ModelLibrary } from "./modelLibrary.svelte";
import { DataWarnings } from "./dataWarnings.svelte";
import { ModelMoves } from "./modelMoves.svelte";
import { ToolServers } from "./toolServers.svelte";
import { Models } from "./models.svelte";
import { followOrigin } from "./origins";
import { PersonaActions } from "./personaActions";
import { PrivateCharacters } from "./privateCharacters.svelte";
import { Openings } from "./openings.svelte";
import type { PageValues } from "./pageValues";
import { SettingsState } from "./settings.svelte";
import { Updates } from "./updates.svelte";
import { Links } from "./links.svelte";
import { Undo } from "./undo";
import { Zoom } from "./zoom";
import { Toasts } from "./toasts.svelte";
import { allowPictures } from "../text/pictures";
import { Formats } from "./prompts/formats.svelte";
import { Samplers } from "./prompts/samplers.svelte";
import { TemplateEditors } from "./prompts/templateEditors.svelte";
import { Templates } from "./prompts/templates.svelte";
import { watchActivity } from "./watchActivity";
import { watchLeaving } from "./leaving";
import { Xray } from "./xray/xray.svelte";

export type Screen = "chats" | "people" | "books" | "prompts" | "models" | "settings";

/** The tab of the prompts screen, and the item to open in it. */
export type PromptsTarget = { tab: "templates"; id?: string; section?: string } | { tab: "modes"; name?: string } | { tab: "samplers" } | { tab: "formats" } | { tab: "scripts" };

/** What the models screen opens: its downloads, a new endpoint, or the key field of an endpoint. */
export type ModelsTarget = "download" | "connect" | { key: string };

/** A place on the settings screen: a tab, and a row or section in it to focus. */
export interface SettingsTarget {
	tab: string;
	row: string;
}

/** Questions about the open chat that its header asks. */
export type ChatQuestion = "rename" | "newScene" | "goToDate" | "export";

/** State of the window: the current screen and chat, and the states that all screens share. */
export class App {
	readonly api: Api;
	readonly look: Look;
	readonly backgroundStrength: BackgroundStrength;
	readonly toasts = new Toasts();
	readonly help = new Help();
	readonly shortcuts: Shortcuts;
	readonly palette: Palette;
	readonly characters = new CharacterActions(this);
	readonly personas = new PersonaActions(this);
	readonly search: MessageSearch;
	readonly library: Library;
	readonly chats: Chats;
	readonly chatFolders = new Folders(this, "chat");
	readonly characterFolders = new Folders(this, "character");
	readonly models: Models;
	readonly modelLibrary: ModelLibrary;
	readonly modelMoves: ModelMoves;
	readonly dataWarnings: DataWarnings;
	readonly encryptionHint: EncryptionHint;
	readonly toolServers: ToolServers;
	readonly settings: SettingsState;
	readonly updates: Updates;
	readonly xray: Xray;
	readonly memories: Memories;
	readonly templates: Templates;
	readonly templateEditors: TemplateEditors;
	readonly samplers: Samplers;
	readonly formats: Formats;
	readonly books: Books;
	readonly folder: FolderImport;
	readonly openings: Openings;
	readonly deletion: ChatDeletion;
	readonly forgetting: Forgetting;
	readonly privateCharacters: PrivateCharacters;
	readonly links: Links;
	readonly encryption: EncryptionState;
	/** `null` outside the desktop window. */
	readonly zoom: Zoom | null;

	screen = $state<Screen>("chats");
	chat = $state.raw<ChatState | null>(null);
	editor = $state.raw<Editor | null>(null);
	prompts = $state.raw<PromptsTarget>({ tab: "templates" });
	startup = $state.raw<Startup | null>(null);
	startFailure = $state.raw<ApiError | null>(null);
	connection = $state<Connection>("connecting");
	/** The settings panel next to the chat is open. */
	settingsOpen = $state(false);
	/** Key of the setting to scroll to and focus in the panel. */
	focusedSetting = $state("");
	/** The place to show on the settings screen. Each request is a new object. */
	settingsTarget = $state.raw<SettingsTarget | null>(null);
	/** Where the models screen opens. */
	modelsTarget = $state.raw<ModelsTarget | null>(null);
	/** A question that the header of the chat is to ask. Each request is a new object. */
	asked = $state.raw<{ question: ChatQuestion } | null>(null);
	/** Files are being dragged over the window. */
	dropping = $state(false);
	/** A narrow window shows either the chat (`true`) or the chat list. */
	inChat = $state(true);
	/** Increases after each change of the attached documents. */
	documentsVersion = $state(0);
	/** The next announcement for screen readers. */
	announcement = $state("");
	/** Chats in which a reply is being written. */
	readonly writing = new SvelteSet<string>();
	/** Increases after each import. */
	importsVersion = $state(0);
	/** The import report on screen. */
	shownReport = $state.raw<ImportReport | null>(null);
	/** Open memory lists other than the one in the panel. */
	readonly #watched = new SvelteSet<Memories>();
	readonly #events = new EngineEvents(this);
	readonly #undo = new Undo(this.toasts, (action) => this.attempt(action));

	constructor(
		shell: Transport,
		readonly values: PageValues,
	) {
		this.api = api(shell);
		this.look = new Look(values);
		this.backgroundStrength = new BackgroundStrength(values);
		this.shortcuts = new Shortcuts(values);
		this.search = new MessageSearch(this.api, values);
		this.palette = new Palette(this.api, this);
		this.library = new Library(this.api, values, () => this.characterFolders.all);
		this.chats = new Chats(
			this.api,
			values,
			() => this.chatFolders.all,
			(character) => this.library.tagsOf(character),
		);
		this.models = new Models(this.api);
		this.toolServers = new ToolServers(this.api, {
			failed: this.fail,
			attached: (name) => {
				this.toasts.show({ kind: "news", text: t("documents.attached", { name }) }, 2_500);
				this.documentsVersion += 1;
				if (this.chat) this.#turned(this.chat.id);
			},
		});
		this.modelLibrary = new ModelLibrary(this.api, { attempt: (action) => this.attempt(action) });
		this.dataWarnings = new DataWarnings(this.api);
		this.encryptionHint = new EncryptionHint(this.api, {
			attempt: (action) => this.attempt(action),
			show: () => this.showSettings({ tab: "privacy", row: "encryption" }),
		});
		this.modelMoves = new ModelMoves(this.api, { attempt: (action) => this.attempt(action) });
		this.settings = new SettingsState(this.api, this.look, this.fail);
		this.updates = new Updates(this.api, {
			available: (version) => {
				const action = { label: t("toast.updateShow"), run: () => this.showSettings({ tab: "updates", row: "updates" }) };
				this.toasts.show({ kind: "news", text: t("toast.updateAvailable", { version }), action }, Infinity);
			},
		});
		this.xray = new Xray(this.api);
		this.memories = this.createMemories();
		this.templates = new Templates(this.api);
		this.templateEditors = new TemplateEditors(this.api, this.fail);
		this.samplers = new Samplers(this.api);
		this.formats = new Formats(this.api);
		this.books = new Books(this.api);
		this.folder = new FolderImport(this.api, { announce: (text) => (this.announcement = text), attempt: (action) => this.attempt(action) });
		this.zoom = shell.desktop ? new Zoom(values, (factor) => this.attempt(() => shell.setZoom(factor))) : null;
		this.encryption = new EncryptionState(this.api, this.fail);
		this.links = new Links((address) => this.attempt(() => shell.openLink(address)));
		allowPictures(shell.assetBase);
		this.openings = new Openings(shell);
		this.deletion = new ChatDeletion(this.api, { attempt: (action) => this.attempt(action), deleted: (chats) => this.#chatsDeleted(chats) });
		this.forgetting = new Forgetting(this.api, { attempt: (action) => this.attempt(action), forgotten: () => this.#forgotten() });
		this.privateCharacters = new PrivateCharacters(this.api, {
			attempt: (action) => this.attempt(action),
			vanished: (name) => this.toasts.show({ kind: "news", text: t("private.vanished", { name }), detail: t("private.vanishedHow") }, Infinity),
			changed: (shown) => this.#privateChanged(shown),
		});
	}

	/** Subscribes to events and loads the first screen. The returned function unsubscribes. */
	start(): () => void {
		const { shell } = this.api;
		const unsubscribe = shell.subscribe(this.receive, (state) => (this.connection = state));
		const unwatch = shell.watchDrops({
			over: (is) => (this.dropping = is),
			dropped: (files) => void this.attempt(() => shell.importFiles(files)),
		});
		const unheed = this.openings.start();
		const unwatchClosing = watchLeaving(this.api, this.values);
		const unwatchActivity = shell.desktop ? watchActivity(() => shell.markActive()) : () => {};
		void this.load();
		return () => {
			unsubscribe();
			unheed();
			unwatchClosing();
			unwatchActivity();
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
			this.values.report(this.fail);
			if (startup.chat) await this.openChat(startup.chat);
			this.startup = startup;
			for (const notice of startup.notices) this.toasts.show({ kind: "news", text: notice }, Infinity);
			await this.loadAll();
			// The shortcut for locking needs it, the first screen does not.
			void this.encryption.load();
		} catch (thrown) {
			this.startFailure = asApiError(thrown);
		}
	};

	fail = (error: ApiError): void => this.toasts.fail(error);

	receive = (event: Event): void => this.#events.receive(event);

	async openChat(id: string): Promise<void> {
		this.screen = "chats";
		this.inChat = true;
		if (this.chat?.id === id) return;
		void this.chat?.close();
		this.xray.close();
		this.chat = new ChatState(id, this.api, {
			deleted: (undo) => this.offerUndo(t("toast.messageDeleted"), undo),
			undoable: (text, undo) => this.offerUndo(text, undo),
			detached: (name, undo) => this.offerUndo(t("toast.documentRemoved", { name }), undo),
			failed: this.fail,
			replied: (name, text) => (this.announcement = `${name}: ${text}`),
			announce: (text) => (this.announcement = text),
			search: (text) => this.search.find(text),
			exportChat: (format) => void this.exportChat(id, format),
			openChat: (other) => void this.openChat(other),
			promptChanged: () => this.#turned(id),
		});
		void this.chat.loadDisplaySettings();
		await Promise.all([this.chat.load(), this.chat.mode.load(), this.chat.quickReplies.opened()]);
	}

	/** Opens the newest chat with a character, or creates the first. */
	async talkTo(character: CharacterId): Promise<void> {
		const known = this.chats.newestOf(character);
		await (known ? this.openChat(known.id) : this.newChat(character));
	}

	async newChat(character: CharacterId): Promise<void> {
		await this.attempt(async () => {
			const chat = await this.api.newChat(character);
			await this.openChat(chat.id);
		});
	}

	/** Creates a group chat and opens it. Returns whether that worked. */
	async newGroup(title: string, characters: string[]): Promise<boolean> {
		let created = false;
		await this.attempt(async () => {
			const chat = await this.api.newGroup(title, characters);
			created = true;
			await this.openChat(chat.id);
		});
		return created;
	}

	async renameChat(id: string, title: string): Promise<void> {
		await this.attempt(() => this.api.renameChat(id, title));
		if (this.chat?.id === id && this.chat.info) this.chat.info = { ...this.chat.info, title };
		await this.chats.load();
	}

	/** Runs an export, whose result is the path of the file or `null` if the user cancelled, and shows the path. */
	async exporting(action: () => Promise<string | null>, text = t("toast.exported")): Promise<void> {
		await this.attempt(async () => {
			const path = await action();
			if (path) this.toasts.show({ kind: "news", text, detail: path });
		});
	}

	/** `options` apply to the formats for people. */
	exportChat(id: string, format: ChatFileFormat, options: ReadableOptions = SHOWN_PARTS): Promise<void> {
		return this.exporting(() => this.api.shell.exportChat(id, format, options));
	}

	exportMemories(character: CharacterId): Promise<void> {
		return this.exporting(() => this.api.shell.exportMemories(character));
	}

	exportPromptFile(kind: PromptFile, id: string): Promise<void> {
		return this.exporting(() => this.api.shell.exportPromptFile(kind, id));
	}

	async setDefaultModel(model: ModelRef): Promise<void> {
		await this.settings.set({ defaultModel: model });
		await this.attempt(() => this.models.load());
	}

	/** Opens the character editor, and focuses `field` or the lorebook `entry` if given. */
	edit(character: CharacterId | null, field: TextField | null = null, entry: string | null = null): void {
		this.screen = "people";
		this.editor = new Editor(this.api, character, field, entry);
		void this.editor.load();
	}

	/** Opens the source of a prompt block. */
	follow(origin: Origin): void {
		followOrigin(this, origin);
	}

	/** Opens a lorebook, and the given entry in it. The id of a lorebook in a card is the id of its character. */
	openBook(id: string, entry: string | null = null): void {
		this.go("books");
		void this.books.open(id, entry);
	}

	/** Opens the settings panel of the chat at one setting. */
	showSetting(key: string): void {
		this.xray.close();
		this.memories.close();
		[this.screen, this.inChat, this.settingsOpen, this.focusedSetting] = ["chats", true, true, key];
	}

	/** Opens the settings screen at a place. */
	showSettings(at: SettingsTarget): void {
		this.go("settings");
		this.settingsTarget = { ...at };
	}

	showPersonas(): void {
		this.showSettings({ tab: "personas", row: "personas" });
	}

	/** Lets the header of the open chat ask a question. */
	ask(question: ChatQuestion): void {
		this.asked = { question };
	}

	/** Opens the memory panel of the chat, at the given memory. */
	showMemories(memory: string | null = null): void {
		this.xray.close();
		[this.screen, this.inChat, this.settingsOpen] = ["chats", true, false];
		this.memories.show(memory);
	}

	/** Opens a chat and scrolls to a message in it, or to the first of `words` in the message. */
	async showMessage(chat: ChatId, message: MessageId, words?: readonly SearchWord[]): Promise<void> {
		await this.openChat(chat);
		if (this.chat?.id === chat) this.reveal(message, words);
	}

	/** Opens the models at a way to get one, or at the key of an endpoint. */
	openModels(place: ModelsTarget): void {
		this.go("models");
		this.modelsTarget = place;
	}

	openPrompts(place: PromptsTarget): void {
		this.go("prompts");
		this.prompts = place;
	}

	go(screen: Screen): void {
		this.screen = screen;
		this.inChat = false;
		this.editor = null;
	}

	/** Opens a file dialog for cards. An event reports the result, as for every import. */
	import = (): Promise<void> => this.attempt(() => this.api.shell.pickImport());

	/** Hands the first picture of a paste to `use`; says so if it cannot be read. */
	pastePicture(event: ClipboardEvent, use: (picture: File) => unknown): void {
		if (!event.defaultPrevented) this.#paste(event, ([picture]) => picture && use(picture), t("picture.pasteNothing"));
	}

	/** Hands all pictures of a paste to `use`; says how to attach them if they cannot be read. */
	pastePictures(event: ClipboardEvent, use: (pictures: File[]) => unknown): void {
		this.#paste(event, use, t("chat.pasteNothing"));
	}

	#paste(event: ClipboardEvent, use: (pictures: File[]) => unknown, nothing: string): void {
		const pictures = pastedPictures(event, this.api.shell);
		if (!pictures) return;
		event.preventDefault();
		void this.attempt(async () => {
			const found = await pictures;
			if (found.length > 0) use(found);
			else this.toasts.show({ kind: "news", text: nothing });
		});
	}

	/** Runs `action` and shows an error as a toast. */
	async attempt(action: () => Promise<unknown>): Promise<void> {
		try {
			await action();
		} catch (thrown) {
			this.fail(asApiError(thrown));
		}
	}

	async memoriesChanged(): Promise<void> {
		await Promise.all([this.memories, ...this.#watched].map((memories) => memories.changed()));
	}

	async #chatsDeleted(chats: readonly ChatToDelete[]): Promise<void> {
		const ids = chats.map(({ id }) => id);
		const open = this.chat?.id ?? "";
		if (ids.includes(open)) this.leaveChat();
		if (ids.length > 1) this.chats.list.stopSelecting();
		await this.chats.load();
		const [first] = chats;
		const text = chats.length === 1 ? t("toast.chatDeleted", { title: first?.title ?? "" }) : t("toast.chatsDeleted", { count: chats.length });
		this.offerUndo(text, async () => {
			await this.api.restoreFromTrash(ids.map((id) => ({ kind: "chat", id })));
			await this.chats.load();
			const shown = ids.length === 1 ? ids[0] : ids.find((id) => id === open);
			if (shown !== undefined) await this.openChat(shown);
		});
	}

	/** Shows what is left after something was forgotten. Nothing that it removed can be restored. */
	async #forgotten(): Promise<void> {
		this.clearUndo();
		this.editor = null;
		await Promise.all([this.loadLists(), this.settings.load()]);
		const open = this.chat;
		if (!open) return;
		if (this.chats.all.some(({ id }) => id === open.id)) await open.load();
		else this.leaveChat();
	}

	/** Loads everything that private characters may be part of. Before that, a hidden chat and its panels are left, because they can no longer be loaded. */
	async #privateChanged(shown: boolean): Promise<void> {
		await this.loadLists();
		if (!shown) this.#leaveHidden();
		await tick();
		await Promise.all([this.loadFolders(), this.books.changed(null), this.memoriesChanged(), this.settings.load(), this.chat?.mode.load()]);
	}

	/** Leaves the chat and the editor of a character that is hidden now, and everything that may quote it. */
	#leaveHidden(): void {
		this.clearUndo();
		this.search.close();
		const { chat, editor } = this;
		if (chat && !this.chats.all.some(({ id }) => id === chat.id)) this.leaveChat();
		if (editor?.id && !this.library.all.some(({ id }) => id === editor.id)) this.editor = null;
	}

	exportChats(ids: readonly string[], format: ChatFileFormat): Promise<void> {
		return this.exporting(() => this.api.shell.exportChats([...ids], format), t("toast.chatsExported", { count: ids.length }));
	}

	async loadAll(): Promise<void> {
		await Promise.all([this.loadLists(), this.loadFolders(), this.models.load(), this.modelLibrary.load(), this.modelMoves.load(), this.settings.load(), this.folder.load(), this.dataWarnings.load(), this.encryptionHint.load(), this.privateCharacters.load()]);
	}

	/** Loads the folders of both lists. */
	async loadFolders(): Promise<void> {
		const all = await this.api.listFolders();
		for (const folders of [this.chatFolders, this.characterFolders]) folders.show(all);
	}

	async loadLists(): Promise<void> {
		await Promise.all([this.library.load(), this.chats.load()]);
	}

	/** Keeps another memory list up to date until the returned function is called. */
	watchMemories(memories: Memories): () => void {
		memories.open = true;
		this.#watched.add(memories);
		return () => {
			this.#watched.delete(memories);
			memories.close();
		};
	}

	/** The documents of a character or a lorebook. */
	createDocuments(owner: DocumentOwner): Documents {
		return new Documents(this.api, owner, {
			detached: (name, undo) => this.offerUndo(t("toast.documentRemoved", { name }), undo),
			failed: this.fail,
			announce: (text) => (this.announcement = text),
			promptChanged: () => this.chat && this.#turned(this.chat.id),
		});
	}

	/** Handles a change of the next prompt of a chat. */
	#turned(chat: ChatId): void {
		this.xray.turned(chat);
		this.memories.turned(chat);
	}

	/** A memory list that reports its actions as toasts. */
	createMemories(): Memories {
		return new Memories(this.api, {
			failed: this.fail,
			forgot: (text, undo) => this.offerUndo(t("toast.forgot", { text }), undo),
			forgotMany: (count, undo) => this.offerUndo(t("toast.forgotMany", { count }), undo),
			merged: (undo) => this.offerUndo(t("toast.merged"), undo),
			archived: (count, undo) => (count > 0 ? this.offerUndo(t("toast.archived", { count }), undo) : this.toasts.show({ kind: "news", text: t("toast.inOrder"), detail: "" })),
			imported: ({ added, known, worldless, refused }) => {
				const elsewhere = worldless.map((text) => t("toast.worldless", { text }));
				this.toasts.show({ kind: refused.length > 0 ? "bad" : "news", text: t("toast.took", { count: added, known }), detail: [...elsewhere, ...refused].join("\n") });
			},
		});
	}

	/** Scrolls to a message of the open chat. */
	reveal(message: MessageId, words?: readonly SearchWord[]): void {
		this.screen = "chats";
		this.inChat = true;
		this.xray.narrow();
		// In a narrow window the panel covers the chat.
		if (matchMedia("(max-width: 1100px)").matches) {
			this.xray.close();
			this.memories.close();
		}
		void this.chat?.reveal(message, words);
	}

	leaveChat(): void {
		this.chat = null;
		this.inChat = false;
		this.xray.close();
		this.memories.close();
	}

	/** Drops the undo of the last deletion, because the item was deleted permanently. */
	clearUndo(): void {
		this.#undo.clear();
	}

	/** Undoes the last deletion; `false` if there is none. */
	get canUndo(): boolean {
		return this.#undo.possible;
	}

	undoLast(): boolean {
		return this.#undo.run();
	}

	/** Shows that something is done, with a button that runs `undo`. An `explanation` stays until the user closes it. */
	offerUndo(text: string, undo: () => Promise<void>, explanation?: string): void {
		this.#undo.offer(text, undo, explanation);
	}
}
