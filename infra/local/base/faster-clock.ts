/**
 * Loaded into a child before its program: time runs faster there, so that leases, intervals and deadlines of a minute
 * take seconds. `LOCAL_CLOCK` is `<factor>@<milliseconds since the epoch>`: at that instant the clock is right, and all
 * processes that are given the same value agree with each other ever after.
 *
 * It changes what the program sees of `Date`, `setTimeout` and `setInterval`; timers inside Node keep their pace.
 */
const [factorText = '', sinceText = ''] = (process.env.LOCAL_CLOCK ?? '').split('@');
const factor = Number(factorText);
const since = Number(sinceText);
if (!(factor >= 1) || !Number.isFinite(since)) throw new TypeError('LOCAL_CLOCK: must be <factor>@<milliseconds>');

const readClock = Date.now.bind(Date);
const now = (): number => Math.floor(since + (readClock() - since) * factor);

globalThis.Date = new Proxy(Date, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
  get: (target, name, receiver): unknown => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});

/** A timer function whose second argument, the delay, is shortened. */
const shortened = <Timer extends typeof setTimeout | typeof setInterval>(timer: Timer): Timer =>
  new Proxy(timer, {
    apply: (target, self, [callback, millis, ...rest]: [unknown, number?, ...unknown[]]): unknown =>
      Reflect.apply(target, self, [callback, (millis ?? 0) / factor, ...rest]),
  });

globalThis.setTimeout = shortened(setTimeout);
globalThis.setInterval = shortened(setInterval);
