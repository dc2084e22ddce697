/**
 * Whether a page of this origin may open a WebSocket. Browsers do not apply their same-origin policy to WebSockets, so
 * the server checks the origin before the upgrade.
 *
 * - Same origin as the request's Host: allowed. (A reverse proxy must forward Host, or the origin must be listed.)
 * - A listed origin, such as `https://app.example.org`: allowed.
 * - No Origin header: allowed. Browsers always send one with a WebSocket handshake, so this is another program, which
 *   could claim any origin anyway; the token decides.
 * - Anything else, including `null` of sandboxed pages: refused.
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

/** A host name has at most 253 characters. A longer header is not one, and must not fill the log. */
const MAX_LOGGED_ORIGIN = 300;

/**
 * Returns the name of a refused origin in the log: the value of `--origin` that would allow it.
 */
export function loggedOrigin(origin: string | undefined): string | null {
  return origin?.slice(0, MAX_LOGGED_ORIGIN) ?? null;
}

/** Returns why a text is not an origin in the form that browsers send, or null if it is. */
export function originProblem(text: string): string | null {
  // `localhost:5173` is a URL with the scheme `localhost:` and the origin `null`.
  const { origin, protocol, host } = URL.canParse(text) ? new URL(text) : { origin: 'null', protocol: '', host: '' };
  // The pages of a native shell have an origin with a scheme of their own, such as `capacitor://localhost`.
  if (origin === 'null' && host !== '' && text === `${protocol}//${host}`) return null;
  if (origin === 'null') return `${text} is not an origin, such as https://app.example.org or http://localhost:5173`;
  return origin === text ? null : `${text} is not an origin; did you mean ${origin}?`;
}
