import type { ApiError, AttachedDocument, CardField, Character, Chat, ChatSummary, ChatText, DocumentOwner, DraftKind, Event, ForgetSubject, Generating, GroupOptions, ImportReport, LayeredSettings, Message, Persona, SettingOwner, Settings, SettingsChange, SettingValue, TrashRef } from "../../src/lib/api/generated";
import type { Connection, Transport } from "../../src/lib/api/transport";
import { MockBackups } from "./backups";
import { MockDrafts } from "./drafts";
import { MockLocalApi } from "./localApi";
import { MockBooks } from "./books";
import { MockBranches } from "./branches";
import { MockCharacters } from "./characters";
import { MockCardVersions } from "./cardVersions";
import { MockTokens } from "./tokens";
import { MockTools } from "./tools";
import { MockVersions } from "./versions";
import { MockCardFiles } from "./cardFiles";
import { MockScenery } from "./scenery";
import { MockCommands } from "./commands";
import * as data from "./data";
import { MockDeletions } from "./deletions";
import { MockFolder } from "./folder";
import { MockFolders } from "./folders";
import { MockHub } from "./hub";
import * as groups from "./groups";
import { MockLayers } from "./layers";
import { LICENCES } from "./licences";
import { MockMemories } from "./memories";
import { MockModelLoads } from "./modelLoads";
import { MockModelList } from "./modelList";
import { MockPageValues } from "./pageValues";
import { MockPresets } from "./presets";
import { MockPrivacy } from "./privacy";
import { MockPrompts } from "./prompts";
import { MockReplies } from "./replies";
import { MockSearch } from "./search";
import { MockQuickReplies } from "./quickReplies";
import { MockSections } from "./sections";
import { MockShell } from "./shell";
import { MockTemplateSections } from "./templateSections";
import { MockToolServers } from "./toolServers";
import { MockUpdates } from "./updates";
import type { Scene } from "./scenes";

export interface MockChat {
	id: string;
	title: string;
	character: string;
	messages: Message[];
	updated: string;
	draft: string;
	model: Chat["model"];
	persona: Persona;
	nameKept?: string | null;
	asksName?: boolean;
	generating: Generating | null;
	members: string[];
	group?: groups.MockGroup;
	texts: Partial<Record<CardField, string>>;
}

const PAGE = 50;

const REPORT: ImportReport = {
	imported: [
		{ kind: "character", id: "c4", name: "Juniper", file: "juniper.png", warnings: ["The card's lorebook has two entries without keys; they were kept."] },
		{ kind: "character", id: "c2", name: "Captain Osei", file: "osei.json", warnings: [] },
		{ kind: "chat", id: "chat1", name: "The night ferry", file: "The night ferry.jsonl", warnings: ["3 notes that nobody said are left out"] },
	],
	skipped: [{ id: "c1", file: "mira (2).png", reason: "Mira is already in the library" }],
	refused: [{ file: "holiday.png", kind: "noCard", reason: "The picture contains no character card." }],
	cancelled: false,
	choices: [{ setting: "sampler_preset", value: "my-creative", name: "sampler preset My Creative" }],
};

/** A scripted engine for tests and screenshots. It keeps the order of events and the id formats of the real one. */
export class MockEngine extends MockShell implements Transport {
	readonly backups = new MockBackups();
	readonly drafts = new MockDrafts();
	readonly localApi = new MockLocalApi();
	readonly pageValues = new MockPageValues();
	readonly characters: Character[];
	readonly chats: MockChat[] = [];
	personas = structuredClone(data.personas);
	models = structuredClone(data.models);
	endpoints = structuredClone(data.endpoints);
	settings: Settings;
	readonly layered = new MockLayers();
	readonly privacy = new MockPrivacy(this.layered, (subject) => this.forget(subject));
	readonly prompts: MockPrompts;
	readonly modelLoads = new MockModelLoads(() => this.models, () => this.emit({ event: "changed", what: "models", id: null }));
	readonly presets = new MockPresets(() => this.emit({ event: "changed", what: "presets", id: null }));
	readonly branches = new MockBranches({ chats: this.chats, chat: (id) => this.chat(id), open: (id) => this.op_open_chat({ id }), changed: (id) => this.emit({ event: "changed", what: "chats", id }) });
	readonly versions = new MockVersions({ chat: (id) => this.chat(id), op_regenerate: (args) => this.replies.op_regenerate(args) });
	readonly replies = new MockReplies(this);
	readonly tokens = new MockTokens({
		find: (id) => this.chats.flatMap(({ messages }) => messages).find((message) => message.id === id) ?? this.replies.reply(),
		last: (id) => this.chat(id).messages.at(-1),
		continued: (id, text) => {
			const started = this.replies.op_regenerate({ chat: id });
			this.token(this.chat(id), text);
			return started;
		},
	});
	readonly tools = new MockTools(this);
	readonly modelList = new MockModelList(this);
	readonly library = new MockCharacters(this);
	readonly cardFiles = new MockCardFiles();
	readonly scenery = new MockScenery(this);
	readonly search = new MockSearch({ chats: this.chats, items: () => this.#searchable() });
	readonly cardVersions = new MockCardVersions(this);
	readonly books = new MockBooks((event) => this.emit(event));
	readonly folder = new MockFolder((event) => this.emit(event));
	readonly folders = new MockFolders((event) => this.emit(event));
	readonly hub = new MockHub(this);
	readonly memories = new MockMemories((event) => this.emit(event));
	readonly commands = new MockCommands(this);
	readonly quickReplies = new MockQuickReplies(this);
	readonly sections = new MockSections();
	readonly templateSections = new MockTemplateSections();
	readonly toolServers = new MockToolServers((event) => this.emit(event));
	readonly updates = new MockUpdates((event) => this.emit(event));
	listeners = new Set<(event: Event) => void>();
	connection: (state: Connection) => void = () => {};
	documents: AttachedDocument[] = [];
	/** If set, every operation fails with this error. */
	broken: ApiError | null = null;
	readonly deletions = new MockDeletions();
	/** The list of licences; `null` in a build without one. */
	licences: string | null = LICENCES;
	/** The number of the next id. */
	next = 1;

	constructor(
		readonly scene: Scene,
		theme: "light" | "dark",
		language: string,
	) {
		super();
		this.prompts = new MockPrompts(scene, this.privacy.hasNoPrompts);
		this.settings = { theme, language, defaultPersona: "p1" };
		this.characters = scene === "empty" ? [] : structuredClone(data.characters);
		if (scene === "first") this.#chat("c1", [data.greeting()], 0);
		else if (scene === "long") this.#chat("c1", data.longChat(600), 0);
		else if (scene === "tall") this.#chat("c1", data.tallChat(), 0);
		else if (scene !== "empty") this.#chat("c1", data.conversation(), 0.2);
		if (!["first", "empty"].includes(scene)) this.#more();
		if (scene === "crowd") this.#crowd(2000);
		if (scene === "horde") this.#crowd(20_000);
		if (scene.startsWith("sprites")) this.scenery.drawn = ["c1", "c2"];
		if (scene === "backupsnone") this.backups.clear();
		if (scene === "backupsfailed") this.backups.fail();
		if (scene === "datawarnings") this.backups.warn();
		if (scene.startsWith("encrypted")) this.encrypted();
		if (scene === "localapibusy") this.localApi.busy();
		if (scene === "trashnone") this.backups.items = [];
		if (scene === "updates") this.updates.updated();
		if (scene === "updatespackage") this.updates.packaged();
		if (scene === "updatesfailed") this.updates.unreachable();
		if (scene === "booksnone") this.books.clear();
		if (scene === "toolserversnone") this.toolServers.all = [];
		if (scene === "memorynone") this.memories.items = [];
		if (scene === "memorywords") this.memories.byMeaning = false;
		this.hub.hint = scene === "first";
		if (scene === "nomodel" || scene === "empty") [this.models, this.endpoints] = [[], []];
	}

	async call(operation: string, args: Record<string, unknown>): Promise<unknown> {
		await Promise.resolve();
		if (this.broken) throw this.broken;
		const handler = [this, this.pageValues, this.commands, this.prompts, this.privacy, this.presets, this.memories, this.books, this.folder, this.folders, this.cardFiles, this.scenery, this.backups, this.localApi, this.updates, this.branches, this.versions, this.tokens, this.tools, this.cardVersions, this.search, this.quickReplies, this.sections, this.templateSections, this.hub, this.toolServers, this.replies, this.modelList, this.library]
			.map((part) => (part as unknown as Record<string, ((args: never) => unknown) | undefined>)[`op_${operation}`])
			.find(Boolean);
		if (!handler) throw { kind: "internal", message: `the scripted engine has no ${operation}` } satisfies ApiError;
		return structuredClone(await handler(args as never)) ?? null;
	}

	subscribe(listener: (event: Event) => void, connection: (state: Connection) => void): () => void {
		this.listeners.add(listener);
		this.connection = connection;
		connection("live");
		return () => this.listeners.delete(listener);
	}

	assetUrl = async (hash: string) => data.portrait(hash);
	pickSecondPlace = async () => this.backups.choose("/media/sam/Archive");
	/** Starts a folder import, whose progress the scene controls. */
	pickSillytavern = async () => this.folder.begin();
	pickAdapter = async (id: string) => this.modelLoads.pickAdapter(id);
	pickProjector = async (id: string) => this.modelLoads.pickProjector(id);
	pickEmbeddingModel = async () => this.modelLoads.chooseEmbedding();
	pickTokenizer = async (id: string) => this.modelList.counts(id, "tokenizer.json");
	pickImport = async (): Promise<ImportReport> => {
		const report = structuredClone(REPORT);
		this.emit({ event: "imported", report });
		return report;
	};

	/** Appends a message of the character to the first chat. */
	say(text: string, over: Partial<Message> = {}): void {
		const { messages } = this.chats[0] as MockChat;
		const id = `s${messages.length}`;
		messages.push(data.message(id, "character", [data.swipe(`${id}s`, text)], over));
	}

	emit(event: Event): void {
		for (const listener of this.listeners) listener(structuredClone(event));
	}

	chat(id: string): MockChat {
		const found = this.chats.find((chat) => chat.id === id);
		if (!found) throw { kind: "notFound", message: "This chat is no longer there." } satisfies ApiError;
		return found;
	}

	#chat(character: string, messages: Message[], hours: number, title = ""): void {
		const persona = this.personas[0] ?? data.nobody;
		this.chats.push({ id: `chat${this.chats.length}`, title, character, messages, updated: data.ago(hours), draft: "", model: null, persona, generating: null, members: [], texts: {} });
	}

	#more(): void {
		this.#chat("c2", [data.message("x1", "character", [data.swipe("x1s", "“Mind the third plank. It remembers everyone who trusted it.”")])], 2);
		this.#chat("c3", [data.message("x2", "character", [data.swipe("x2s", "“Ah. You found the wrong door, which is the only one worth opening.”")])], 27, "The archive at night");
		this.#chat("c1", [data.greeting()], 80, "A first evening, long ago and far from here");
		this.#chat("c5", [data.message("x3", "character", [data.swipe("x3s", "「ようこそ。道は静かです。」")])], 900);
	}

	#crowd(count: number): void {
		for (let index = 0; index < count; index++) {
			const [copied] = structuredClone(data.characters.slice(index % 6, (index % 6) + 1));
			if (!copied) continue;
			copied.fields.name = `${copied.fields.name} ${index}`;
			this.characters.push({ ...copied, id: `x${index}` });
			this.#chat("c1", [data.greeting()], index, copied.fields.name);
		}
	}

	#message(id: string): { chat: MockChat; message: Message } {
		for (const chat of this.chats) {
			const message = chat.messages.find((known) => known.id === id);
			if (message) return { chat, message };
		}
		throw { kind: "notFound", message: "This message is no longer there." } satisfies ApiError;
	}

	op_get_character = (args: Parameters<MockCharacters["op_get_character"]>[0]) => this.library.op_get_character(args);
	begin = (...args: Parameters<MockReplies["begin"]>): Message => this.replies.begin(...args);
	token = (...args: Parameters<MockReplies["token"]>): void => this.replies.token(...args);
	end = (...args: Parameters<MockReplies["end"]>): void => this.replies.end(...args);
	op_send_message = (args: Parameters<MockReplies["op_send_message"]>[0]) => this.replies.op_send_message(args);

	anchor(): string | null {
		if (this.scene === "long") return "l560";
		return this.scene === "window" ? "a1" : null;
	}

	/** What the search finds besides messages. */
	#searchable() {
		const chat = this.chats[0]?.id ?? "";
		return [
			...(chat === "" ? [] : [{ kind: "notes" as const, place: { of: "chatNote" as const, chat }, title: "", context: "Mira", text: "Keep the lamp burning in every scene." }]),
			...this.memories.items.map(({ id, text, character }) => ({ kind: "memories" as const, place: { of: "memory" as const, memory: id, chat, character }, title: "", context: "Mira", text })),
			...this.books.all().flatMap(({ about, entries }) => entries.map((entry) => ({ kind: "entries" as const, place: { of: "entry" as const, book: about.id, entry: entry.id }, title: entry.title, context: about.name, text: entry.content }))),
			...this.characters.map(({ id, fields }) => ({ kind: "characters" as const, place: { of: "character" as const, character: id, field: "description" }, title: fields.name, context: "", text: fields.description })),
		];
	}

	op_startup = () => ({ version: "0.1.0", settings: this.settings, chat: this.chats[0]?.id ?? null, notices: this.scene === "interrupted" ? ["The app ended while a reply was being written. What had arrived was kept."] : [], dataDir: "/home/sam/.local/share/inglenook" });
	op_health = () => ({
		ok: false,
		version: "0.1.0",
		checks: [
			{ name: "Database", ok: true, reason: "42 chats, 1,204 messages, 18 MB" },
			{ name: "Models", ok: true, reason: "3 files, all in place" },
			{ name: "Worker", ok: true, reason: "running since 14:02" },
			{ name: "Keychain", ok: false, reason: "No keychain answers on this machine; keys last until the app ends." },
		],
	});
	op_third_party_licences = () => this.licences;
	op_get_settings = () => this.settings;
	op_update_settings = ({ change }: { change: SettingsChange }) => {
		this.settings = { ...this.settings, ...change } as Settings;
		if (change.localApi) this.localApi.set(change.localApi);
		const chosen = this.settings.defaultModel;
		for (const model of this.models) model.default = chosen ? chosen.kind === "local" && chosen.id === model.id : model.id === "m1";
		for (const endpoint of this.endpoints) {
			const model = chosen?.kind === "remote" ? (chosen.id === endpoint.id ? endpoint.model : endpoint.models.find(({ id }) => id === chosen.id)?.name) : undefined;
			endpoint.default = model !== undefined;
			endpoint.defaultModel = model ?? null;
		}
		return this.settings;
	};
	op_layered_settings = ({ owner }: { owner: SettingOwner }) => this.layered.of(owner);
	op_set_setting = ({ owner, key, value }: { owner: SettingOwner; key: string; value: SettingValue | null }): LayeredSettings => {
		this.layered.set(owner, key, value);
		this.privacy.apply();
		this.emit({ event: "changed", what: "settings", id: "id" in owner ? owner.id : null });
		return this.layered.of(owner);
	};
	op_count_fields = ({ texts }: { texts: string[] }) => ({ tokens: texts.map((text) => Math.ceil(text.length / 4)), model: this.models[0]?.name ?? "", exact: this.models.length > 0 });
	op_list_personas = () => this.personas;
	op_save_persona = ({ persona }: { persona: Persona }) => {
		const known = this.personas.find(({ id }) => id === persona.id);
		// As in the engine, saving leaves the characters as they are.
		const saved = { ...persona, id: persona.id || `p${this.next++}`, characters: known?.characters ?? [] };
		this.personas = [...this.personas.filter((one) => one.id !== saved.id), saved];
		return saved;
	};
	op_set_persona_picture = ({ id, data: picture }: { id: string; data: string | null }) => {
		const known = this.personas.find((one) => one.id === id);
		return known && Object.assign(known, { picture: picture && "c5" });
	};
	/** Removes what cannot be restored. */
	forget(subject: ForgetSubject): void {
		if (subject.kind === "persona") this.personas = this.personas.filter(({ id }) => id !== subject.id);
		if (subject.kind !== "character") return;
		// In place, because other parts of the engine share the lists.
		for (const chat of this.chats.filter((one) => one.character === subject.id && one.members.length === 0)) this.chats.splice(this.chats.indexOf(chat), 1);
		const at = this.characters.findIndex(({ id }) => id === subject.id);
		if (at >= 0) this.characters.splice(at, 1);
	}

	op_delete_persona = ({ id }: { id: string }) => this.deletions.delete(this.personas, id);
	op_list_chats = (): ChatSummary[] =>
		this.chats.map((chat) => {
			const character = this.op_get_character({ id: chat.character });
			const last = chat.messages.at(-1);
			const lastLine = last?.swipes[last.selected]?.text ?? "";
			const other = this.op_get_character({ id: chat.members[0] ?? "" });
			const otherMember = other ? { name: other.fields.name, picture: other.picture } : null;
			return { id: chat.id, title: chat.title, character: chat.character, characterName: character?.fields.name ?? "", picture: character?.picture ?? null, otherMember, lastLine, messageCount: chat.messages.length, created: chat.messages[0]?.created ?? chat.updated, updated: chat.updated, place: this.folders.place(chat.id) };
		});
	op_new_chat = ({ character }: { character: string }) => {
		const fields = this.op_get_character({ id: character })?.fields;
		this.#chat(character, [data.message(`n${this.next++}`, "character", [data.swipe("ns", fields?.firstMessage ?? "")], { name: fields?.name })], 0);
		this.chats.unshift(...this.chats.splice(-1));
		this.emit({ event: "changed", what: "chats", id: null });
		return this.op_open_chat({ id: this.chats[0]?.id ?? "" });
	};
	op_open_chat = ({ id }: { id: string }): Chat => {
		const chat = this.chat(id);
		const character = this.op_get_character({ id: chat.character });
		const { title, draft, model, persona, generating } = chat;
		const members = chat.members.flatMap((member) => {
			const found = this.op_get_character({ id: member });
			return found ? [{ id: found.id, name: found.fields.name, picture: found.picture }] : [];
		});
		const page = { messages: chat.messages.slice(-PAGE), more: chat.messages.length > PAGE };
		return { id, title, character: chat.character, characterName: character?.fields.name ?? "", picture: character?.picture ?? null, members, group: groups.shown(chat), persona, nameKept: chat.nameKept ?? null, asksName: chat.asksName ?? false, draft, model, page, anchor: this.anchor(), generating, drafting: null };
	};
	op_messages_before = ({ chat, before, limit }: { chat: string; before: string; limit: number }) => {
		const all = this.chat(chat).messages;
		const at = all.findIndex((message) => message.id === before);
		return { messages: all.slice(Math.max(0, at - limit), at), more: at > limit };
	};
	op_rename_chat = ({ id, title }: { id: string; title: string }) => void (this.chat(id).title = title);
	op_set_chat_model = ({ id, model }: { id: string; model: Chat["model"] }) => void (this.chat(id).model = model);
	op_set_chat_persona = ({ id, persona }: { id: string; persona: string }) => {
		Object.assign(this.chat(id), { nameKept: null, asksName: false });
		this.chat(id).persona = this.personas.find((known) => known.id === persona) ?? this.chat(id).persona;
	};
	op_chat_texts = ({ chat: id }: { chat: string }): ChatText[] => {
		const chat = this.chat(id);
		const fields = this.op_get_character({ id: chat.character })?.fields;
		const all: CardField[] = ["description", "personality", "scenario", "messageExamples", "systemPrompt", "postHistoryInstructions"];
		return all.map((field) => ({ field, card: fields?.[field] ?? "", own: chat.texts[field] ?? null }));
	};
	op_set_chat_text = ({ chat, field, text }: { chat: string; field: CardField; text: string | null }) => {
		const { texts } = this.chat(chat);
		if (text === null || this.op_chat_texts({ chat }).some((known) => known.field === field && known.card === text)) delete texts[field];
		else texts[field] = text;
		return this.op_chat_texts({ chat });
	};
	op_list_documents = ({ owner }: { owner: DocumentOwner }) => this.documents.filter((known) => known.owner.of === owner.of && known.owner.id === owner.id);
	op_get_document = ({ id }: { id: string }) => this.documents.find((known) => known.id === id);
	op_attach_document = ({ owner, name, data: file }: { owner: DocumentOwner; name: string; data: string }): AttachedDocument => {
		const { length } = atob(file);
		if (length === 0) throw { kind: "badInput", message: `"${name}" cannot be attached: it contains no text.`, hint: "Choose another file." } satisfies ApiError;
		const document = { id: `d${this.next++}`, owner, name, bytes: length, passages: Math.ceil(length / 800), created: data.ago(0) };
		this.documents.push(document);
		this.emit({ event: "changed", what: "documents", id: owner.id });
		return document;
	};
	op_remove_document = ({ id }: { id: string }) => this.deletions.delete(this.documents, id);
	op_restore_document = ({ id }: { id: string }) => this.deletions.restore(id);
	op_drafts = ({ kind, owner }: { kind: DraftKind; owner: string }) => this.drafts.of(kind, owner);
	op_write_draft = (args: Parameters<MockDrafts["write"]>[0]) => this.drafts.write(args);
	op_discard_draft = ({ id }: { id: string }) => this.drafts.discard(id);
	op_keep_draft = ({ chat: id, text, known }: { chat: string; text: string; known: string }) => {
		const chat = this.chat(id);
		this.drafts.replace(id, { stored: chat.draft, known, text });
		chat.draft = text;
		return this.drafts.of("composer", id);
	};
	op_save_draft = ({ chat, text }: { chat: string; text: string }) => void (this.chat(chat).draft = text);
	op_delete_chat = ({ id }: { id: string }) => this.deletions.delete(this.chats, id, this.memories.leave(id));
	op_delete_chats = ({ chats, keepLearned }: { chats: string[]; keepLearned: boolean }) => chats.forEach((id) => this.deletions.delete(this.chats, id, keepLearned ? undefined : this.memories.leave(id)));
	op_restore_from_trash = ({ items }: { items: TrashRef[] }) => {
		const deletedNow = ({ id }: TrashRef) => this.deletions.has(id);
		this.backups.op_restore_from_trash({ items: items.filter((item) => !deletedNow(item)) });
		for (const { id } of items.filter(deletedNow).toReversed()) this.deletions.restore(id);
	};
	op_restore_chat = ({ id }: { id: string }) => this.branches.restoreJoined(id) || this.deletions.restore(id);
	op_set_members = ({ chat, characters }: { chat: string; characters: string[] }) => void (this.chat(chat).members = characters);
	op_new_group = ({ title, characters }: { title: string; characters: string[] }) => {
		const chat = this.op_new_chat({ character: characters[0] ?? "" });
		const stored = this.chat(chat.id);
		stored.members = characters.slice(1);
		stored.title = title || characters.map((id) => this.op_get_character({ id })?.fields.name ?? "").join(", ");
		return this.op_open_chat({ id: chat.id });
	};
	op_set_group = ({ chat, options }: { chat: string; options: GroupOptions }) => groups.setOptions(this.chat(chat), options);
	op_set_member = ({ chat, ...state }: { chat: string; character: string; muted: boolean; away: boolean }) => groups.setMember(this.chat(chat), state);
	op_let_member_know = ({ chat, character }: { chat: string; character: string }) => groups.letKnow(this.chat(chat), character);
	op_add_picture = ({ name }: { name: string }) => ({ hash: "c3", name });
	op_select_swipe = ({ message: id, index }: { message: string; index: number }) => Object.assign(this.#message(id).message, { selected: index });
	op_delete_swipe = ({ message: id, index }: { message: string; index: number }) => {
		const { message } = this.#message(id);
		message.swipes.splice(index, 1);
		return Object.assign(message, { selected: Math.min(message.selected, message.swipes.length - 1) });
	};
	op_edit_message_from = ({ message: id, was, text }: { message: string; was: string; text: string }) => {
		const { message } = this.#message(id);
		return message.swipes[message.selected]?.text === was ? this.op_edit_message({ message: id, text }) : null;
	};
	op_edit_message = ({ message: id, text }: { message: string; text: string }) => {
		const { message } = this.#message(id);
		Object.assign(message.swipes[message.selected] ?? {}, { text });
		return message;
	};
	op_delete_message = ({ message: id }: { message: string }) => this.deletions.delete(this.#message(id).chat.messages, id);
	op_restore_message = ({ message: id }: { message: string }) => this.deletions.restore(id);
	op_hide_message = ({ message: id, hidden }: { message: string; hidden: boolean }) => Object.assign(this.#message(id).message, { hidden });
	op_pin_message = ({ message: id, pinned }: { message: string; pinned: boolean }) => Object.assign(this.#message(id).message, { pinned });
	op_new_scene = () => {};
	op_list_import_reports = () => data.importRecords;
	op_get_import_report = () => REPORT;
}
