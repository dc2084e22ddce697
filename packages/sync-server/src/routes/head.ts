/**
 * Returns the response to a request. Hono runs the route of GET for a HEAD request and drops the body, whose file would
 * stay open, and on the disk if it is a temporary one.
 */
export async function withoutUnreadBody(response: Response, method: string): Promise<Response> {
  if (method !== 'HEAD' || response.body === null) return response;
  await response.body.cancel();
  return new Response(null, response);
}
