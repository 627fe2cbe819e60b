import { SCREEN_PAGES } from "../help/topics";
import type { PageName } from "../help/pages";
import type { App, Screen } from "../state/app.svelte";
import { isReply } from "../state/messages";
import { saveEditor } from "./editor";

export const GROUPS = ["go", "chat", "reply", "editor", "look"] as const;
export type ActionGroup = (typeof GROUPS)[number];

/** Something that the window can do. Its name is the text `action.<id>`. */
export interface Action {
	id: ActionId;
	group: ActionGroup;
	/** The shortcut unless the user changes it; empty for none. */
	shortcut: string;
	/** Whether it can run now. */
	available: (app: App) => boolean;
	run: (app: App) => unknown;
	/** Its shortcut also works while a dialog is open. */
	overDialogs?: true;
	/** Its shortcut does not work in text fields, which have an undo of their own. */
	notInText?: true;
}

const inChat = (app: App) => app.screen === "chats" && Boolean(app.chat?.info);
const idle = (app: App) => inChat(app) && app.chat?.busy === false;
const onLast = (app: App) => idle(app) && app.chat?.last !== undefined;
const lastReply = (app: App) => {
	const last = app.chat?.last;
	return idle(app) && last && isReply(last) ? last : null;
};
const finding = (app: App) => inChat(app) && app.chat?.find.shown === true;
const character = (app: App) => (app.screen === "people" ? editing(app)?.id : inChat(app) ? app.chat?.info?.character : null) ?? null;
const editing = (app: App) => (app.screen === "people" ? app.editor : null);
const to = (screen: Screen) => (app: App) => app.go(screen);
const always = () => true;

/** The help page about what is on screen. */
function helpPage(app: App): PageName {
	if (app.screen === "chats" && app.xray.open) return "xray";
	return app.screen === "chats" && app.memories.open ? "memory" : SCREEN_PAGES[app.screen];
}

function toggleSettings(app: App): void {
	app.settingsOpen = app.xray.open || !app.settingsOpen;
	app.xray.close();
	app.memories.close();
}

function toggleMemories(app: App): void {
	if (app.memories.open && !app.xray.open) app.memories.close();
	else app.showMemories();
}

function toggleXray(app: App): void {
	if (app.xray.open) app.xray.close();
	else if (app.chat) void app.xray.next(app.chat.id, app.chat.draft);
}

/** Focuses the search of a dialog, or of the screen. */
function focusSearch(): void {
	const search = document.querySelector<HTMLInputElement>("[role=dialog] [data-search]") ?? document.querySelector<HTMLInputElement>("[data-search]");
	search?.focus();
	search?.select();
}

/** Searches the open chat, or all chats if none is open. */
function findInChat(app: App): void {
	if (inChat(app) && app.inChat) app.chat?.find.open();
	else app.search.open(null);
}

function focusComposer(): void {
	document.querySelector<HTMLElement>("[data-testid=composer]")?.focus();
}

/** The chat before (-1) or after (1) the open one in the list. */
function stepChat(app: App, step: 1 | -1): void {
	const { shown } = app.chats;
	const at = shown.findIndex(({ id }) => id === app.chat?.id);
	const next = shown[(at + step + shown.length) % shown.length];
	if (next) void app.openChat(next.id);
}

const swipe = (step: 1 | -1) => (app: App) => {
	const reply = lastReply(app);
	if (reply) void app.chat?.swipe(reply, step);
};

/** Every action of the window that has a shortcut or that the palette offers. */
const LIST = [
	{ id: "palette", group: "go", shortcut: "Mod+K", available: always, run: (app) => app.palette.open() },
	{ id: "focusSearch", group: "go", shortcut: "Mod+Shift+K", available: always, run: focusSearch, overDialogs: true },
	{ id: "searchAll", group: "go", shortcut: "Mod+Shift+F", available: always, run: (app) => app.search.open(null) },
	{ id: "shortcuts", group: "go", shortcut: "Mod+/", available: always, run: (app) => app.shortcuts.open() },
	{ id: "help", group: "go", shortcut: "F1", available: (app) => !app.help.shown, run: (app) => app.help.open(helpPage(app)), overDialogs: true },
	{ id: "chats", group: "go", shortcut: "Mod+1", available: always, run: to("chats") },
	{ id: "people", group: "go", shortcut: "Mod+2", available: always, run: to("people") },
	{ id: "books", group: "go", shortcut: "Mod+3", available: always, run: to("books") },
	{ id: "prompts", group: "go", shortcut: "Mod+4", available: always, run: to("prompts") },
	{ id: "models", group: "go", shortcut: "Mod+5", available: always, run: to("models") },
	{ id: "settings", group: "go", shortcut: "Mod+,", available: always, run: to("settings") },
	{ id: "import", group: "go", shortcut: "Mod+O", available: always, run: (app) => app.import() },
	{ id: "importFolder", group: "go", shortcut: "", available: (app) => app.api.shell.importsFolders && app.folder.progress === null, run: (app) => app.folder.start() },
	{ id: "newCharacter", group: "go", shortcut: "", available: always, run: (app) => app.edit(null) },
	{ id: "lock", group: "go", shortcut: "Mod+Shift+H", available: (app) => app.encryption.lockable, run: (app) => app.encryption.lock(), overDialogs: true },
	{ id: "hide", group: "go", shortcut: "Mod+Shift+H", available: (app) => !app.encryption.lockable, run: (app) => app.encryption.hide(), overDialogs: true },
	{ id: "showPrivate", group: "go", shortcut: "", available: (app) => app.privateCharacters.available && !app.privateCharacters.shown, run: (app) => app.privateCharacters.ask() },
	{ id: "hidePrivate", group: "go", shortcut: "", available: (app) => app.privateCharacters.available && app.privateCharacters.shown, run: (app) => app.privateCharacters.hide() },
	{ id: "undo", group: "go", shortcut: "Mod+Z", available: (app) => editing(app) === null && app.canUndo, run: (app) => app.undoLast(), notInText: true },

	{ id: "newChat", group: "chat", shortcut: "Mod+N", available: (app) => character(app) !== null, run: (app) => app.newChat(character(app) ?? "") },
	{ id: "nextChat", group: "chat", shortcut: "Alt+ArrowDown", available: (app) => inChat(app) && app.chats.shown.length > 1, run: (app) => stepChat(app, 1) },
	{ id: "previousChat", group: "chat", shortcut: "Alt+ArrowUp", available: (app) => inChat(app) && app.chats.shown.length > 1, run: (app) => stepChat(app, -1) },
	{ id: "searchChat", group: "chat", shortcut: "Mod+F", available: (app) => app.screen === "chats", run: findInChat },
	{ id: "findNext", group: "chat", shortcut: "F3", available: finding, run: (app) => app.chat?.find.step(1) },
	{ id: "findPrevious", group: "chat", shortcut: "Shift+F3", available: finding, run: (app) => app.chat?.find.step(-1) },
	{ id: "write", group: "chat", shortcut: "Mod+J", available: inChat, run: focusComposer },
	{ id: "xray", group: "chat", shortcut: "Mod+Shift+X", available: inChat, run: toggleXray },
	{ id: "memory", group: "chat", shortcut: "Mod+Shift+M", available: inChat, run: toggleMemories },
	{ id: "chatSettings", group: "chat", shortcut: "Mod+Shift+S", available: inChat, run: toggleSettings },
	{ id: "chooseModel", group: "chat", shortcut: "Mod+Shift+L", available: inChat, run: (app) => app.chat && (app.chat.choosingModel = true) },
	{ id: "newScene", group: "chat", shortcut: "", available: idle, run: (app) => app.ask("newScene") },
	{ id: "goToDate", group: "chat", shortcut: "Mod+G", available: onLast, run: (app) => app.ask("goToDate") },
	{ id: "firstMessage", group: "chat", shortcut: "", available: onLast, run: (app) => app.chat?.revealFirst() },
	{ id: "renameChat", group: "chat", shortcut: "F2", available: inChat, run: (app) => app.ask("rename") },
	{ id: "editCharacter", group: "chat", shortcut: "Mod+E", available: inChat, run: (app) => app.edit(app.chat?.info?.character ?? null) },
	{ id: "exportChat", group: "chat", shortcut: "", available: inChat, run: (app) => app.exportChat(app.chat?.id ?? "", "jsonl") },
	{ id: "exportReadable", group: "chat", shortcut: "", available: inChat, run: (app) => app.ask("export") },
	{ id: "exportMarkdown", group: "chat", shortcut: "", available: inChat, run: (app) => app.exportChat(app.chat?.id ?? "", "markdown") },
	{ id: "exportText", group: "chat", shortcut: "", available: inChat, run: (app) => app.exportChat(app.chat?.id ?? "", "text") },
	{ id: "importChats", group: "chat", shortcut: "", available: (app) => character(app) !== null, run: (app) => app.characters.importChats(character(app) ?? "") },
	{ id: "deleteChat", group: "chat", shortcut: "", available: inChat, run: (app) => app.deletion.ask(app.chat?.id ?? "", app.chat?.info?.title || app.chat?.info?.characterName || "") },

	{ id: "swipeNext", group: "reply", shortcut: "ArrowRight", available: (app) => lastReply(app) !== null, run: swipe(1) },
	{ id: "swipePrevious", group: "reply", shortcut: "ArrowLeft", available: (app) => (lastReply(app)?.selected ?? 0) > 0, run: swipe(-1) },
	{ id: "regenerate", group: "reply", shortcut: "Mod+Shift+R", available: (app) => onLast(app) && lastReply(app)?.canRegenerate === true, run: (app) => app.chat?.regenerate() },
	{ id: "continue", group: "reply", shortcut: "Mod+Shift+Enter", available: (app) => lastReply(app) !== null, run: (app) => app.chat?.continueReply() },
	{ id: "getReply", group: "reply", shortcut: "", available: (app) => app.chat?.unanswered === true, run: (app) => app.chat?.regenerate() },
	{ id: "impersonate", group: "reply", shortcut: "Mod+Shift+I", available: (app) => idle(app) && app.chat?.draft === "", run: (app) => app.chat?.impersonate() },
	{ id: "stop", group: "reply", shortcut: "Mod+.", available: (app) => app.chat?.busy === true, run: (app) => app.chat?.stop() },
	{ id: "editReply", group: "reply", shortcut: "Mod+Shift+E", available: onLast, run: (app) => app.chat?.last && app.chat.edits.open(app.chat.last) },
	{ id: "editOwn", group: "reply", shortcut: "", available: onLast, run: (app) => app.chat?.editLastOwn() },
	{ id: "copyReply", group: "reply", shortcut: "Mod+Shift+C", available: onLast, run: (app) => app.copy(app.chat?.last?.swipes[app.chat.last.selected]?.text ?? "") },
	{ id: "pinMessage", group: "reply", shortcut: "", available: onLast, run: (app) => app.chat?.last && app.chat.pin(app.chat.last, !app.chat.last.pinned) },
	{ id: "deleteMessage", group: "reply", shortcut: "", available: onLast, run: (app) => app.chat?.last && app.chat.remove(app.chat.last) },

	{ id: "save", group: "editor", shortcut: "Mod+S", available: (app) => editing(app) !== null, run: saveEditor },
	{ id: "undoEdit", group: "editor", shortcut: "Mod+Z", available: (app) => editing(app)?.history.canUndo === true, run: (app) => app.editor?.undo(), notInText: true },
	{ id: "redoEdit", group: "editor", shortcut: "Mod+Shift+Z", available: (app) => editing(app)?.history.canRedo === true, run: (app) => app.editor?.redo(), notInText: true },

	{ id: "zoomIn", group: "look", shortcut: "Mod+Plus", available: (app) => app.zoom !== null, run: (app) => app.zoom?.step("in"), overDialogs: true },
	{ id: "zoomOut", group: "look", shortcut: "Mod+-", available: (app) => app.zoom !== null, run: (app) => app.zoom?.step("out"), overDialogs: true },
	{ id: "zoomReset", group: "look", shortcut: "Mod+0", available: (app) => app.zoom !== null, run: (app) => app.zoom?.step("reset"), overDialogs: true },
	{ id: "light", group: "look", shortcut: "", available: (app) => app.look.theme !== "light", run: (app) => app.settings.set({ theme: "light" }) },
	{ id: "dark", group: "look", shortcut: "", available: (app) => app.look.theme !== "dark", run: (app) => app.settings.set({ theme: "dark" }) },
	{ id: "systemTheme", group: "look", shortcut: "", available: (app) => app.look.theme !== "system", run: (app) => app.settings.set({ theme: "system" }) },
	{ id: "changeLayout", group: "look", shortcut: "", available: always, run: (app) => app.look.set({ layout: app.look.layout === "bubbles" ? "document" : "bubbles" }) },
] as const satisfies readonly (Omit<Action, "id"> & { id: string })[];

export type ActionId = (typeof LIST)[number]["id"];
export const ACTIONS: readonly Action[] = LIST;
