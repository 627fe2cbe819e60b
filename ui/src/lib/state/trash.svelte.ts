import type { ApiError, DeletedForGood, TrashItem } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";

/** The trash: what is in it, and what the user is asked about before it goes for good. */
export class TrashState {
	items = $state.raw<TrashItem[] | null>(null);
	failure = $state.raw<ApiError | null>(null);
	/** The user has to confirm that they go: one thing, or everything. */
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

	/** With `backups`, those that hold it go too. */
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
