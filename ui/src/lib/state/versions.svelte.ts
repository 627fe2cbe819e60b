import type { Message, ModelRef, RegenerateHint, RegenerateOptions } from "../api/generated";

/** The parts of a chat that its versions need. */
export interface VersionsHost {
	messages(): Message[];
	/** Starts another version of the last reply. Returns whether it started. */
	write(options: RegenerateOptions): Promise<boolean>;
	select(message: Message, index: number): Promise<void>;
	remove(message: Message, index: number): Promise<void>;
}

/** Versions of replies: written with a hint or by another model, and compared side by side. */
export class Versions {
	/** The user writes a hint of their own. */
	asking = $state(false);
	/** The id of the message whose versions are compared. */
	message = $state.raw<string | null>(null);
	/** The versions on the two sides. */
	sides = $state<[number, number]>([0, 0]);
	/** The user chooses a model to compare with. */
	choosing = $state(false);

	/** The message whose shown version the user wants to delete. */
	deleting = $state.raw<Message | null>(null);

	constructor(private readonly host: VersionsHost) {}

	get compared(): Message | null {
		return this.host.messages().find(({ id }) => id === this.message) ?? null;
	}

	hint = (hint: RegenerateHint): Promise<boolean> => this.host.write({ hint, model: null });

	/** Compares the shown version with the one before it, or with the one after the first. */
	compare(message: Message, choosing = false): void {
		const [shown, last] = [message.selected, message.swipes.length - 1];
		this.sides = shown > 0 ? [shown - 1, shown] : [0, Math.min(1, last)];
		[this.message, this.choosing] = [message.id, choosing];
	}

	/** Shows another version on one side. */
	show(side: 0 | 1, index: number): void {
		const count = this.compared?.swipes.length ?? 0;
		this.sides[side] = Math.max(0, Math.min(index, count - 1));
	}

	/** Lets another model answer the same prompt. Its version appears on the right, next to the one that was shown. */
	async byModel(model: ModelRef): Promise<void> {
		const before = this.compared;
		this.choosing = false;
		if (!before || !(await this.host.write({ hint: null, model }))) return;
		this.sides = [before.selected, before.swipes.length];
	}

	/** Shows the version of one side in the chat. */
	async use(side: 0 | 1): Promise<void> {
		const message = this.compared;
		this.close();
		const index = this.sides[side];
		if (message && index !== message.selected) await this.host.select(message, index);
	}

	/** Deletes the version that was shown when the user asked for it. */
	async remove(message: Message): Promise<void> {
		this.deleting = null;
		await this.host.remove(message, message.selected);
	}

	close(): void {
		[this.message, this.choosing] = [null, false];
	}
}
