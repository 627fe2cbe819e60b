import type { ApiError, UpdateStatus } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";

/** Updates of the app: what is known, and the steps to another version. */
export class Updates {
	status = $state.raw<UpdateStatus | null>(null);
	failure = $state.raw<ApiError | null>(null);
	/** The check in progress was asked for here. */
	#asked = false;

	constructor(
		private readonly api: Api,
		private readonly tell: { available(version: string): void },
	) {}

	load = (): Promise<boolean> => this.#run(() => this.api.updatesStatus());

	/** The last failure, here or in the background. */
	get error(): ApiError | null {
		return this.failure ?? this.status?.failure ?? null;
	}

	get busy(): boolean {
		const phase = this.status?.phase;
		return phase === "checking" || phase === "downloading" || phase === "installing";
	}

	/** Shows a new state. Tells of a newer version that the weekly check has found. */
	receive(status: UpdateStatus): void {
		const was = this.status?.phase;
		this.status = status;
		if (was === "checking" && status.phase === "available" && status.available && !this.#asked) this.tell.available(status.available.version);
	}

	async check(): Promise<void> {
		this.#asked = true;
		await this.#run(() => this.api.checkForUpdates());
		this.#asked = false;
	}

	download = (): Promise<boolean> => this.#run(() => this.api.downloadUpdate());

	stop = (): Promise<boolean> => this.#run(() => this.api.stopUpdateDownload());

	/** The desktop app restarts itself. A server has to be restarted by the user. */
	async install(): Promise<void> {
		if (await this.#run(() => this.api.installUpdate())) await this.restart();
	}

	async goBack(): Promise<void> {
		if (await this.#run(() => this.api.goBackToPreviousVersion())) await this.restart();
	}

	async restart(): Promise<void> {
		if (this.api.shell.desktop) await attempt(this, () => this.api.shell.restart());
	}

	#run(step: () => Promise<UpdateStatus>): Promise<boolean> {
		return attempt(this, async () => void (this.status = await step()));
	}
}
