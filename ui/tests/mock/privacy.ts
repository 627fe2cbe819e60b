import type { ForgetCounts, ForgetPreview, ForgetReport, ForgetSubject, PrivacySpace, PrivateCharacters } from "../../src/lib/api/generated";
import type { MockLayers } from "./layers";

/** What the scripted engine keeps about its work, by the settings. */
export class MockPrivacy {
	/** Prompts that were stored before they were switched off. */
	#prompts = 412;
	#logBytes = 38_000;

	/** Kinds of things that cannot be removed at once. */
	left: ForgetReport["left"] = [];
	/** Removals that wait for the second folder. */
	owed = 0;
	/** The first week is over, and the chats are not encrypted. */
	encryptionHint = false;

	constructor(
		private readonly layers: MockLayers,
		private readonly removes: (subject: ForgetSubject) => void,
	) {}

	/** Deletes what the settings no longer allow. */
	apply(): void {
		if (this.#value("keep_prompts") === "off") this.#prompts = 0;
		if (this.#value("write_log") === false) this.#logBytes = 0;
	}

	/** Whether the prompts of past turns are gone. */
	hasNoPrompts = (): boolean => this.#prompts === 0;

	op_privacy_space = (): PrivacySpace => ({ prompts: this.#prompts, promptBytes: this.#prompts * 31_000, logBytes: this.#logBytes });

	op_forget_preview = ({ subject }: { subject: ForgetSubject }): ForgetPreview => ({ removed: counted(subject), backups: 12, secondPlaceMissing: this.left.length > 0 });
	op_forget = ({ subject, backups }: { subject: ForgetSubject; backups: boolean }): ForgetReport => {
		this.removes(subject);
		const kept: ForgetReport["left"] = backups ? this.left : [{ kind: "backupsKept", count: 12, detail: "" }];
		if (backups) this.owed += this.left.length;
		return { removed: counted(subject), backups: backups ? 12 : 0, left: kept };
	};
	op_owed_removals = (): number => this.owed;

	op_hints_at_encryption = (): boolean => this.encryptionHint;
	op_dismiss_encryption_hint = (): void => void (this.encryptionHint = false);

	op_private_characters = (): PrivateCharacters => ({ available: false, shown: true });

	#value(key: string): unknown {
		return this.layers.of({ scope: "global" }).settings.find((setting) => setting.key === key)?.value;
	}
}

const NOTHING: ForgetCounts = { characters: 0, personas: 0, chats: 0, messages: 0, versions: 0, earlierTexts: 0, memories: 0, summaries: 0, vectors: 0, prompts: 0, documents: 0, drafts: 0, cardVersions: 0, files: 0 };

function counted({ kind }: ForgetSubject): ForgetCounts {
	if (kind === "character") return { ...NOTHING, characters: 1, chats: 2, messages: 214, versions: 240, memories: 18, prompts: 96, cardVersions: 3, files: 2 };
	if (kind === "persona") return { ...NOTHING, personas: 1, memories: 4, prompts: 31 };
	return { ...NOTHING, chats: 1, messages: 57, versions: 63, memories: 5, prompts: 22 };
}
