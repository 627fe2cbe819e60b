import type { ApiError, Backup, BackupKind, Backups, DataWarningKind, DataWarnings, RestorePreview, TrashItem, TrashRef } from "../../src/lib/api/generated";

const HOUR = 3_600_000;
const FOLDER = "/home/sam/.local/share/inglenook/backups";

function backup(hoursAgo: number, kind: BackupKind = "automatic", second = false): Backup {
	const taken = new Date(Date.now() - hoursAgo * HOUR).toISOString();
	return { file: `${second ? "/media/sam/Archive/Inglenook backups" : FOLDER}/inglenook-${taken}.db`, taken, bytes: 41_300_000 - hoursAgo * 4_000, pictures: 214, kind, second, foreign: false, checked: true };
}

/** Backups of several ages, and items in the trash. */
export class MockBackups {
	info: Backups = {
		backups: [1, 2, 3, 5, 26, 50, 74, 170, 340, 720].map((ago, at) => backup(ago, at === 3 ? "byHand" : at === 7 ? "upgrade" : "automatic")),
		folder: FOLDER,
		size: 812_000_000,
		budget: 4_000_000_000,
		secondPlace: null,
		secondPlaceMissing: false,
		failed: null,
		restorePending: false,
	};
	warnings: DataWarnings = { warnings: [], newestBackup: null };
	items: TrashItem[] = [
		{ kind: "chat", id: "t1", name: "The night ferry", with: "Captain Osei", messages: 148, deleted: ago(3), purged: ago(-717), backups: 6 },
		{ kind: "character", id: "t2", name: "Juniper of the Long Marsh and the Lanterns", with: null, messages: 2210, deleted: ago(49), purged: ago(-671), backups: 4 },
		{ kind: "lorebook", id: "t3", name: "The hill town", with: null, messages: 0, deleted: ago(400), purged: ago(-320), backups: 0 },
	];

	clear(): void {
		this.info = { ...this.info, backups: [], size: 0 };
	}

	fail(): void {
		this.info = { ...this.info, failed: "The second folder has no copy: /media/sam/Archive/Inglenook backups is not there.", secondPlace: "/media/sam/Archive", secondPlaceMissing: true };
		this.info.backups.push({ ...backup(5, "setAside"), pictures: null, checked: false });
	}

	/** Every kind of warning about the data. */
	warn(): void {
		const kinds: [DataWarningKind, number, string][] = [
			["logLost", 3, ""],
			["textsChanged", 0, "the text of 1 message has changed on disk"],
			["backupFailed", 0, "The last backup failed: the disk with the data folder /home/sam/.local/share/inglenook is full."],
			["secondCopyFailed", 0, "The folder /media/sam/Archive is not available."],
			["picturesLost", 2, ""],
			["picturesRestored", 1, ""],
			["clockAhead", 0, ""],
		];
		const warnings = kinds.map(([kind, count, detail]) => ({ kind, count, detail, since: ago(1) }));
		this.warnings = { warnings, newestBackup: backup(2) };
	}

	choose(folder: string | null): Backups {
		return (this.info = { ...this.info, secondPlace: folder, secondPlaceMissing: false });
	}

	op_data_warnings = () => this.warnings;
	op_dismiss_data_warning = ({ kind }: { kind: DataWarningKind }) => (this.warnings = { ...this.warnings, warnings: this.warnings.warnings.filter((warning) => warning.kind !== kind) });
	op_backups = () => this.info;
	op_backup = () => {
		const made = backup(0, "byHand");
		this.info = { ...this.info, backups: [made, ...this.info.backups], size: this.info.size + made.bytes };
		return made;
	};
	op_preview_restore = (): RestorePreview => ({
		characters: { gained: 1, lost: 0, namesGained: ["Juniper"], namesLost: [] },
		chats: { gained: 2, lost: 1, namesGained: ["The night ferry", "Letters"], namesLost: ["A lamp in the window"] },
		messages: { gained: 148, lost: 36, namesGained: [], namesLost: [] },
		reworded: 2,
	});
	op_restore_at_next_start = () => void (this.info = { ...this.info, restorePending: true });
	op_delete_backups = ({ files }: { files: string[] }) => void (this.info = { ...this.info, backups: this.info.backups.filter(({ file }) => !files.includes(file)) });
	op_set_backup_budget = ({ megabytes }: { megabytes: number }) => (this.info = { ...this.info, budget: megabytes * 1_000_000 });
	op_forget_second_place = () => this.choose(null);

	op_trash = () => this.items;
	op_restore_from_trash = ({ items }: { items: TrashRef[] }) => this.#take(items);
	op_delete_from_trash = ({ items, backups }: { items: TrashRef[]; backups: boolean }) => {
		this.#take(items);
		return { things: items.length, backups: backups ? 4 : 0, secondPlaceMissing: false };
	};

	op_empty_trash = ({ backups }: { backups: boolean }) => {
		const things = this.items.length;
		this.items = [];
		return { things, backups: backups ? this.info.backups.length : 0, secondPlaceMissing: false };
	};

	#take(items: TrashRef[]): void {
		for (const { id } of items) if (!this.items.some((item) => item.id === id)) throw { kind: "notFound", message: "This item is no longer in the trash." } satisfies ApiError;
		this.items = this.items.filter((item) => !items.some(({ id }) => id === item.id));
	}
}

function ago(hours: number): string {
	return new Date(Date.now() - hours * HOUR).toISOString();
}
