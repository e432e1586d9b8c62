/** One async value per instance, made at first need and shared. A failed attempt is not remembered: the next call tries again. */
export function lazy<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let current: Promise<Value> | undefined;
  return () => {
    if (current) return current;
    // Inside a promise, so that a `make` that throws at once fails like one that rejects.
    const attempt = new Promise<Value>((resolve) => {
      resolve(make());
    });
    current = attempt;
    attempt.catch(() => {
      if (current === attempt) current = undefined;
    });
    return attempt;
  };
}
