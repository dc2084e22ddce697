/**
 * Whether a text is a URL that can be fetched. `localhost:4400/sync`, without `http://`, is a URL too: one with the
 * scheme `localhost:`.
 */
export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
