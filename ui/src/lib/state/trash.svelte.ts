import type { ApiError, DeletedForGood, TrashItem } from "../api/generated";
import type { Api } from "./api";
import { attempt } from "./attempt";

/** The trash: what is in it, and what the user is asked about before it goes for good. */
export class TrashState {
	items = $state.raw<TrashItem[] | null>(null);
	failure = $state.raw<ApiError | null>(null);
	/** The user has to confirm that they go. */
	asked = $state.raw<TrashItem[] | null>(null);
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

	ask(items: TrashItem[]): void {
		this.asked = items;
	}

	cancel = (): void => void (this.asked = null);

	/** With `backups`, those that hold one of them go too. */
	async confirm(backups: boolean): Promise<void> {
		const items = this.asked ?? [];
		this.working = true;
		await attempt(this, async () => {
			const deleted = await this.api.deleteFromTrash(items.map(({ kind, id }) => ({ kind, id })), backups);
			this.tell({ deleted });
			this.items = await this.api.trash();
		});
		this.working = false;
		this.cancel();
	}
}
