import type { ApiError, DeletedForGood, TrashItem } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";

/** The trash: its items, and the confirmation before a permanent deletion. */
export class TrashState {
	items = $state.raw<TrashItem[] | null>(null);
	failure = $state.raw<ApiError | null>(null);
	/** The item in the confirmation dialog, or `all`. */
	asked = $state.raw<TrashItem | "all" | null>(null);
	working = $state(false);

	constructor(
		private readonly api: Api,
		private readonly tell: (news: { restored: TrashItem } | { deleted: DeletedForGood }) => void,
	) {}

	load = (): Promise<boolean> => attempt(this, async () => void (this.items = await this.api.trash()));

	restore = (item: TrashItem): Promise<boolean> =>
		attempt(this, async () => {
			await this.api.restoreFromTrash([{ kind: item.kind, id: item.id }]);
			this.tell({ restored: item });
			this.items = await this.api.trash();
		});

	ask(what: TrashItem | "all"): void {
		this.asked = what;
	}

	cancel = (): void => void (this.asked = null);

	/** Deletes permanently. With `backups`, it also deletes the backups that hold the items. */
	async confirm(backups: boolean): Promise<void> {
		const { asked } = this;
		if (!asked) return;
		this.working = true;
		await attempt(this, async () => {
			const deleted = await (asked === "all" ? this.api.emptyTrash(backups) : this.api.deleteFromTrash([{ kind: asked.kind, id: asked.id }], backups));
			this.tell({ deleted });
			this.items = await this.api.trash();
		});
		this.working = false;
		this.cancel();
	}
}
