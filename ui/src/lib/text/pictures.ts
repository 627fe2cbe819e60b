const INLINE = /^data:image\/(?:png|jpeg|gif|webp);/i;
const STORED = /^(?:asset|thumbnail)\/[0-9a-f]{64}$/;

let base: string | null = null;

/** Sets the prefix of addresses of stored pictures. With `null`, messages cannot show stored pictures. */
export function allowPictures(assetBase: string | null): void {
	base = assetBase;
}

/** Whether a picture loads without a request outside the app. */
export function isOwnPicture(address: string): boolean {
	if (INLINE.test(address)) return true;
	return base !== null && address.startsWith(base) && STORED.test(address.slice(base.length));
}
