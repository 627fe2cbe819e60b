import { expect, test } from "vitest";
import { imageNames, withoutTokens } from "./imageTokens.svelte";

test("image tokens name pictures of the card", () => {
	expect(imageNames("See ${image.harbour} and ${image. mill } and ${image.harbour}.")).toEqual(["harbour", "mill"]);
	expect(imageNames("${image.} ${audio.bell} ${image.a\nb} $image.x")).toEqual([]);
});

test("only tokens with a picture leave the text", () => {
	expect(withoutTokens("A ${image.a} ${image.b}", ["a"])).toBe("A  ${image.b}");
	expect(withoutTokens("A ${image.a}", [])).toBe("A ${image.a}");
});
