/** Runs `work` with these variables set, for code that reads the environment of the process itself. */
export async function withEnvironment<Result>(
  variables: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  try {
    return await work();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  }
}
