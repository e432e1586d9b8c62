/** The grammar of the addresses that a pipeline names besides its table. Pure. */

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/**
 * Reads `host:port`, split at the last colon so that an IPv6 address keeps its own; undefined when it is not one.
 * The host is kept as it is written. Nothing is trimmed: white space anywhere is wrong.
 */
export function parseEmulatorEndpoint(text: string): HostAndPort | undefined {
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, Math.max(0, colon));
  const digits = text.slice(colon + 1);
  const port = Number(digits);
  const isEndpoint = host !== '' && !/\s/u.test(text) && /^[0-9]+$/.test(digits) && port >= 1 && port <= 65_535;
  return isEndpoint ? { host, port } : undefined;
}

/** Names of pipelines: they end up in subscription names and labels. */
export const PIPELINE_NAME = /^[a-z][a-z0-9-]{0,39}$/;
