/** Content of a file, Base64-encoded as operations expect it. */
export async function base64(file: File): Promise<string> {
	const url = await new Promise<string>((resolve, reject) => {
		const reader = new FileReader();
		reader.onload = () => resolve(String(reader.result));
		reader.onerror = () => reject(reader.error);
		reader.readAsDataURL(file);
	});
	return url.slice(url.indexOf(",") + 1);
}

/** The bytes of a Base64 text. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
	return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
