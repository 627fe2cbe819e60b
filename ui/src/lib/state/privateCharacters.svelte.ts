import type { ApiError } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";

interface Callbacks {
	/** Runs an action and shows an error as a toast. */
	attempt(action: () => Promise<unknown>): Promise<void>;
	/** Called after a character was made private and hidden at once. */
	vanished(name: string): void;
	/** Called when other characters may be shown now, or fewer. */
	changed(shown: boolean): Promise<void>;
}

/** Private characters: whether they are shown, the question for the passphrase, and the mark of each. */
export class PrivateCharacters {
	/** The data folder is encrypted, so characters can be private. */
	available = $state(false);
	shown = $state(true);
	/** The dialog for the passphrase is open. */
	asking = $state(false);
	working = $state(false);
	failure = $state.raw<ApiError | null>(null);

	constructor(
		private readonly api: Api,
		private readonly callbacks: Callbacks,
	) {}

	load = async (): Promise<void> => {
		const { available, shown } = await this.api.privateCharacters();
		[this.available, this.shown] = [available, shown];
	};

	/** Follows a change, maybe of another window. */
	changed = async (): Promise<void> => {
		await this.load();
		await this.callbacks.changed(this.shown);
	};

	ask = (): void => {
		[this.asking, this.failure] = [true, null];
	};

	cancel = (): void => void (this.asking = false);

	/** Shows private characters. A failure keeps the dialog open. */
	show = async (passphrase: string): Promise<void> => {
		if (this.working || passphrase === "") return;
		this.working = true;
		const done = await attempt(this, () => this.api.showPrivate(passphrase));
		this.working = false;
		if (!done) return;
		this.asking = false;
		await this.callbacks.attempt(this.load);
	};

	hide = (): Promise<void> =>
		this.callbacks.attempt(async () => {
			await this.api.hidePrivate();
			await this.changed();
		});

	mark = (id: string, name: string, isPrivate: boolean): Promise<void> =>
		this.callbacks.attempt(async () => {
			await this.api.setCharacterPrivate(id, isPrivate);
			if (isPrivate && !this.shown) this.callbacks.vanished(name);
		});
}
