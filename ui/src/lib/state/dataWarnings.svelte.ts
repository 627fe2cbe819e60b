import type { Backup, DataWarning, DataWarningKind } from "../api/generated";
import type { Api } from "./api";

/** The warnings about the user's data, which every screen shows until they are over or dismissed. */
export class DataWarnings {
	all = $state.raw<DataWarning[]>([]);
	/** The newest intact backup, if one of the warnings is a reason to restore it. */
	newestBackup = $state.raw<Backup | null>(null);

	constructor(private readonly api: Api) {}

	async load(): Promise<void> {
		const { warnings, newestBackup } = await this.api.dataWarnings();
		[this.all, this.newestBackup] = [warnings, newestBackup];
	}

	async dismiss(kind: DataWarningKind): Promise<void> {
		const { warnings, newestBackup } = await this.api.dismissDataWarning(kind);
		[this.all, this.newestBackup] = [warnings, newestBackup];
	}
}

/** Kinds of damage that a restore of a backup repairs. */
const RESTORABLE: readonly DataWarningKind[] = ["logLost", "textsChanged", "backupFailed"];

export const isRestorable = ({ kind }: DataWarning): boolean => RESTORABLE.includes(kind);

/** Kinds that tell of a repair or a precaution: nothing is wrong with the data. */
export const isNews = ({ kind }: DataWarning): boolean => kind === "picturesRestored" || kind === "clockAhead";
