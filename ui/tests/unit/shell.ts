import type { Chat, Endpoint, Event, ImportReport, Message, Model, ProtectionStatus, Role } from "../../src/lib/api/generated";
import { NEW_PERSONA } from "../../src/lib/state/newPersona";
import { NoAccess } from "../../src/lib/api/access";
import type { Connection, Drops, Transport } from "../../src/lib/api/transport";

type Answer = (args: never) => unknown;

/** The status of a folder without encryption. */
export const NOT_PROTECTED: ProtectionStatus = { protected: false, unlockAtLogin: false, kdf: null, since: null, unfinished: null, keyFileProblem: null, plainLeftovers: [], swap: "none" };

/** Answers about drafts, damage, hints and choices of the page for tests without any. */
const USUAL: Record<string, Answer> = { drafts: () => [], write_draft: () => ({ id: "draft", others: [] }), discard_draft: () => null, keep_draft: () => [], data_warnings: () => ({ warnings: [], newestBackup: null }), hints_at_encryption: () => false, page_values: () => [], save_page_value: () => null, protection_status: () => NOT_PROTECTED, private_characters: () => ({ available: false, shown: true }) };

/** A transport whose answers are defined by each test. */
export class FakeShell extends NoAccess implements Transport {
	readonly addsModelFiles = true;
	readonly importsFolders = true;
	readonly desktop = true;
	setZoom = async () => {};
	readonly assetBase = null;
	readonly opened: string[] = [];
	openLink = async (address: string) => void this.opened.push(address);
	readonly asked: { operation: string; args: Record<string, unknown> }[] = [];
	listener: (event: Event) => void = () => {};
	connection: (state: Connection) => void = () => {};
	drops: Drops | null = null;

	constructor(readonly answers: Record<string, Answer>) {
		super();
	}

	call = async (operation: string, args: Record<string, unknown>): Promise<unknown> => {
		this.asked.push({ operation, args });
		const answer = this.answers[operation] ?? USUAL[operation];
		if (!answer) throw new Error(`the test gave no answer to ${operation}`);
		return answer(args as never);
	};

	subscribe(listener: (event: Event) => void, connection: (state: Connection) => void): () => void {
		[this.listener, this.connection] = [listener, connection];
		return () => (this.listener = () => {});
	}

	count(operation: string): number {
		return this.asked.filter((call) => call.operation === operation).length;
	}

	assetUrl = async (hash: string) => `asset:${hash}`;
	pickImport = async (): Promise<ImportReport | null> => null;
	pickSillytavern = async (): Promise<void> => {};
	saveTheme = async (): Promise<string | null> => null;
	saveReport = async (): Promise<string | null> => null;
	pickChats = async (): Promise<ImportReport | null> => null;
	exportCharacters = async (): Promise<string | null> => null;
	exportChats = async (): Promise<string | null> => null;
	exportChat = async (): Promise<string | null> => null;
	pickModel = async (): Promise<Model | null> => null;
	pickModelFolder = async () => null;
	pickAdapter = async (_model: string): Promise<null> => null;
	pickProjector = async (_model: string): Promise<null> => null;
	pickEmbeddingModel = async (): Promise<null> => null;
	pickTokenizer = async (_endpoint: string): Promise<Endpoint | null> => null;
	importFiles = async (): Promise<ImportReport> => ({ imported: [], skipped: [], refused: [], cancelled: false, choices: [] });
	exportCharacter = async (): Promise<string | null> => null;
	exportMemories = async (): Promise<string | null> => null;
	pickSecondPlace = async (_folder: string): Promise<null> => null;
	exportArchive = async (): Promise<string | null> => null;
	importArchive = async (): Promise<null> => null;
	openBackups = async (): Promise<void> => {};
	openDataFolder = async (): Promise<void> => {};
	watchOpenings = () => () => {};
	answerOpenings = async (): Promise<void> => {};
	notified: { title: string; text: string }[] = [];
	notify = async (title: string, text: string): Promise<void> => void this.notified.push({ title, text });
	watchClosing = (save: () => Promise<unknown>) => {
		this.closing = save;
		return () => {};
	};
	/** Lets the page save, as the shell does before it closes. */
	closing: () => Promise<unknown> = async () => {};
	clipboard: string | null = null;
	clipboardPicture = async (): Promise<string | null> => this.clipboard;
	restart = async (): Promise<void> => {};
	exportPromptFile = async (): Promise<string | null> => null;
	exportLorebook = async (): Promise<string | null> => null;
	watchDrops(drops: Drops): () => void {
		this.drops = drops;
		return () => {};
	}
}

/** `says("a1", "character", "One.", "Two.")` is a message with two swipes, the last one selected. */
export function says(id: string, role: Role, ...texts: string[]): Message {
	const swipes = texts.map((text, index) => ({ id: `${id}/${index}`, text, state: "finished" as const, created: "", model: null, display: null, figures: null, toolCalls: [], emotion: null }));
	return { id, role, name: role === "user" ? "Sam" : "Mira", swipes, selected: texts.length - 1, created: "", pinned: false, canRegenerate: role !== "user" && id !== "g", pictures: [] };
}

export function chat(messages: Message[], over: Partial<Chat> = {}): Chat {
	return {
		id: "chat",
		title: "Mira",
		character: "mira",
		characterName: "Mira",
		picture: null,
		persona: { ...NEW_PERSONA, id: "sam", name: "Sam" },
		draft: "",
		model: null,
		page: { messages, more: false },
		anchor: null,
		generating: null,
		drafting: null,
		...over,
	};
}

export function token(swipe: string, seq: number, text: string): Event {
	return { event: "token", chat: "chat", message: swipe.split("/")[0] ?? "", swipe, seq, text };
}
