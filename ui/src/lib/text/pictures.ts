const INLINE = /^data:image\/(?:png|jpeg|gif|webp);/i;
const STORED = /^(?:asset|thumbnail)\/[0-9a-f]{64}$/;

let base: string | null = null;

/** Tells how the addresses of stored pictures begin; elsewhere, `null`, a message can show none of them. */
export function allowPictures(assetBase: string | null): void {
	base = assetBase;
}

/** Whether showing a picture fetches nothing from outside the app. */
export function isOwnPicture(address: string): boolean {
	if (INLINE.test(address)) return true;
	return base !== null && address.startsWith(base) && STORED.test(address.slice(base.length));
}
