/**
 * Takes the code that follows out of the `node:domain` in which the functions framework (5.0.5) runs every request.
 *
 * An instance works for many requests at once: a batch, its timers and its stream belong to all of them, and a domain
 * would lay what goes wrong there on the one request that happened to start it. It also makes every promise dear: a
 * request through the bulk sink costs about half without it. Nothing is lost, because an entry point answers every
 * request itself, whatever is thrown. To be called before the first `await` of a request.
 */
export function leaveFrameworkDomain(): void {
  // Node's own types leave out what it deprecates without replacing.
  (process as { readonly domain?: { exit(): void } | null }).domain?.exit();
}
