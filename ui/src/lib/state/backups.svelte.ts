import type { ApiError, Backup, Backups, RestorePreview } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";

/** The operation in progress. */
export type BackupWork = "backingUp" | "exporting" | "importing" | "restarting";

/** The backup page: the backups, the operation in progress, and the restore that the user previews. */
export class BackupsState {
	info = $state.raw<Backups | null>(null);
	working = $state<BackupWork | null>(null);
	failure = $state.raw<ApiError | null>(null);
	/** The backup in the restore dialog. `preview` holds the changes that a restore would make. */
	restoring = $state.raw<Backup | null>(null);
	preview = $state.raw<RestorePreview | null>(null);
	previewFailure = $state.raw<ApiError | null>(null);
	/** The user is asked whether the archive may be written without encryption. */
	exportAsked = $state(false);

	constructor(
		private readonly api: Api,
		private readonly tell: { backedUp(): void; exported(place: string): void; imported(): void },
	) {}

	load = (): Promise<boolean> => attempt(this, async () => void (this.info = await this.api.backups()));

	backUp = (): Promise<void> =>
		this.#work("backingUp", async () => {
			await this.api.backup();
			this.tell.backedUp();
		});

	/** Exports everything. Asks first if the data folder is encrypted, because the archive is not. */
	askExport = async (): Promise<void> => {
		let isProtected = false;
		const known = await attempt(this, async () => void (isProtected = (await this.api.protectionStatus()).protected));
		if (isProtected) this.exportAsked = true;
		else if (known) await this.export();
	};

	export = (): Promise<void> =>
		this.#work("exporting", async () => {
			const place = await this.api.shell.exportArchive();
			if (place) this.tell.exported(place);
		});

	/** Imports an archive and opens its preview. */
	import = (): Promise<void> =>
		this.#work("importing", async () => {
			const made = await this.api.shell.importArchive();
			if (!made) return;
			this.tell.imported();
			void this.openPreview(made);
		});

	/** Shows what a restore would change. */
	async openPreview(backup: Backup): Promise<void> {
		[this.restoring, this.preview, this.previewFailure] = [backup, null, null];
		const holder: { failure: ApiError | null } = { failure: null };
		await attempt(holder, async () => {
			const preview = await this.api.previewRestore(backup.file);
			if (this.restoring === backup) this.preview = preview;
		});
		if (this.restoring === backup) this.previewFailure = holder.failure;
	}

	cancel = (): void => void (this.restoring = null);

	/** The desktop app restarts itself. A server has to be restarted by the user. */
	async restore(): Promise<void> {
		const { restoring } = this;
		this.cancel();
		if (!restoring) return;
		await this.#work("restarting", async () => {
			await this.api.restoreAtNextStart(restoring.file);
			if (this.api.shell.desktop) await this.api.shell.restart();
		});
	}

	restart = (): Promise<void> => this.#work("restarting", () => this.api.shell.restart());

	delete = (backup: Backup): Promise<boolean> => attempt(this, async () => {
		await this.api.deleteBackups([backup.file]);
		await this.load();
	});

	setBudget = (megabytes: number): Promise<boolean> => attempt(this, async () => void (this.info = await this.api.setBackupBudget(megabytes)));

	chooseSecond = (folder = ""): Promise<boolean> => attempt(this, async () => void (this.info = (await this.api.shell.pickSecondPlace(folder)) ?? this.info));

	forgetSecond = (): Promise<boolean> => attempt(this, async () => void (this.info = await this.api.forgetSecondPlace()));

	open = (): Promise<boolean> => attempt(this, () => this.api.shell.openBackups());

	async #work(what: BackupWork, action: () => Promise<void>): Promise<void> {
		if (this.working) return;
		this.working = what;
		const done = await attempt(this, action);
		this.working = null;
		if (done) await this.load();
	}
}
