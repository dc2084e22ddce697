/**
 * Whether a page of this origin may open a WebSocket here. Browsers do not apply their same-origin policy to
 * WebSockets, so the server has to, before the upgrade.
 *
 * - Same origin as the request's Host: allowed. (A reverse proxy must pass Host on, or the origin be listed.)
 * - On the list, such as `https://app.example.org`: allowed.
 * - No Origin at all: allowed. Browsers always send one on a WebSocket handshake, so this is a program, which could
 *   claim any
 *   origin anyway; the token decides.
 * - Everything else, `null` of sandboxed pages among it: refused.
 */
export function isOriginAllowed(
  origin: string | undefined,
  host: string | undefined,
  allowed: readonly string[],
): boolean {
  if (origin === undefined) return true;
  if (allowed.includes(origin)) return true;
  if (!URL.canParse(origin) || host === undefined) return false;
  const url = new URL(origin);
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.host === host.toLowerCase();
}

/** Why a text is not an origin as browsers send it, or null. */
export function originProblem(text: string): string | null {
  if (!URL.canParse(text)) return `${text} is not a URL`;
  const { origin } = new URL(text);
  return origin === text ? null : `${text} is not an origin; did you mean ${origin}?`;
}
