import type { Changed, Event, Memory } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import { noteText } from "../i18n/modelTexts";
import type { App } from "./app.svelte";
import { ImportToasts } from "./importToasts";
import { takeFirstLearned } from "./memory/firstLearned";
import { notifyOfReply } from "./notifier";

type ChatEvent = Exclude<Event, { event: "changed" | "imported" | "importing" | "importEnded" | "downloading" | "downloadEnded" | "modelMoving" | "modelMoveEnded" | "loadedDifferently" | "updateChanged" | "missed" }>;

/** Applies the events of the engine to the state of the app. */
export class EngineEvents {
	readonly #imports: ImportToasts;

	constructor(private readonly app: App) {
		this.#imports = new ImportToasts(app.toasts, {
			talk: (id, kind) => void (kind === "chat" ? app.openChat(id) : app.talkTo(id)),
			openBook: (book) => app.openBook(book),
			show: (report) => (app.shownReport = report),
		});
	}

	receive(event: Event): void {
		const { app } = this;
		if (event.event === "changed") void this.#changed(event.what, event.id);
		else if (event.event === "imported") {
			app.importsVersion += 1;
			this.#imports.add(event.report);
		} else if (event.event === "importing") app.folder.update(event.progress);
		else if (event.event === "importEnded") {
			app.importsVersion += 1;
			app.folder.ended(event.report);
		} else if (event.event === "downloading") app.modelLibrary.update(event.download);
		else if (event.event === "downloadEnded") this.#downloaded(event);
		else if (event.event === "modelMoving") app.modelMoves.update(event.moving);
		else if (event.event === "modelMoveEnded") {
			app.modelMoves.ended(event.model);
			if (event.moved) app.toasts.show({ kind: "news", text: t("toast.modelMoved", { name: event.name }), detail: event.folder });
		} else if (event.event === "loadedDifferently") {
			app.toasts.show({ kind: "news", text: t("toast.loadedDifferently", { name: event.model }), detail: event.notes.map(noteText).join(" ") });
		} else if (event.event === "updateChanged") app.updates.receive(event.status);
		else if (event.event === "missed") void this.#reload();
		else this.#receiveForChat(event);
	}

	#receiveForChat(event: ChatEvent): void {
		const { app } = this;
		if (event.event === "started") app.writing.add(event.chat);
		if (event.event === "ended") {
			app.writing.delete(event.chat);
			notifyOfReply(app, event);
		}
		if (event.chat !== app.chat?.id) return;
		if (event.event === "remembered") this.#remembered(event.memory);
		else if (event.event === "forgot") app.offerUndo(t("toast.forgot", { text: event.memory.text }), () => app.api.restoreMemory(event.memory.id));
		else app.chat.receive(event);
	}

	#downloaded({ id, name, model, makesDefault }: Extract<Event, { event: "downloadEnded" }>): void {
		this.app.modelLibrary.ended(id);
		if (model === null) return;
		// The model may have become the default after it entered the list.
		void this.app.attempt(() => this.app.models.load());
		const text = t(makesDefault ? "toast.modelAnswers" : "toast.modelReady", { name });
		this.app.toasts.show({ kind: "news", text });
	}

	#remembered({ id, text, origin }: Memory): void {
		const explained = origin === "model" && takeFirstLearned(this.app.values);
		this.app.offerUndo(t("toast.remembered", { text }), () => this.app.api.deleteMemory(id), explained ? t("toast.firstLearned") : undefined);
	}

	async #changed(what: Changed, id: string | null): Promise<void> {
		const { app } = this;
		const { chat } = app;
		await app.attempt(async () => {
			if (what === "characters") await this.#characterChanged(id);
			else if (what === "chats") await this.#chatsChanged();
			else if (what === "dataWarnings") await app.dataWarnings.load();
			else if (what === "privateCharacters") await app.privateCharacters.changed();
			else if (what === "folders") await app.loadFolders();
			else if (what === "models" || what === "endpoints") {
				await app.models.load();
				await app.modelLibrary.refreshHint();
				if (what === "models" && app.screen === "models") await app.modelLibrary.modelsChanged();
			}
			else if (what === "toolServers") await app.toolServers.changed();
			else if (what === "messages") await Promise.all([chat?.id === id && !chat?.busy ? chat?.load() : undefined, app.memoriesChanged()]);
			else if (what === "memories") await app.memoriesChanged();
			else if (what === "lorebooks") await Promise.all([app.books.changed(id), app.memoriesChanged()]);
			else if (what === "documents") {
				app.documentsVersion += 1;
				await (chat?.id === id ? chat.documents.load() : undefined);
			} else if (what === "presets") await Promise.all([app.templates.load(), chat?.mode.load(), chat?.quickReplies.load()]);
			else {
				if (what === "settings") {
					app.settings.version += 1;
					void chat?.loadDisplaySettings();
				}
				await Promise.all([app.settings.load(), chat?.mode.load()]);
			}
		});
	}

	/** Reloads the chats. The open one may have a new title. */
	async #chatsChanged(): Promise<void> {
		const { app } = this;
		await app.chats.load();
		const { chat } = app;
		const title = app.chats.all.find(({ id }) => id === chat?.id)?.title;
		if (chat?.info && title !== undefined && title !== chat.info.title) chat.info = { ...chat.info, title };
	}

	/** Reloads the lists and the open chat, which may show the character's name or picture. */
	async #characterChanged(id: string | null): Promise<void> {
		const { chat } = this.app;
		const shown = id !== null && chat?.info?.character === id && !chat.busy;
		await Promise.all([this.app.loadLists(), shown ? chat.load() : undefined]);
	}

	/** Reloads everything on screen after a lost connection. */
	async #reload(): Promise<void> {
		const { app } = this;
		app.writing.clear();
		if (app.startFailure || !app.startup) await app.load();
		else await app.attempt(() => Promise.all([app.loadAll(), app.chat?.load()]));
	}
}
