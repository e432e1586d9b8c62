import { parseArgs } from 'node:util';
import { ConfigError } from '../../shared/base/errors.ts';
import { bundleFunctions, BundleError } from './bundle.ts';

/** `npm run build [-- --config connector.yaml] [--out dist]`: the functions as a folder to deploy. */
try {
  const { values } = parseArgs({ options: { config: { type: 'string' }, out: { type: 'string', default: 'dist' } } });
  const { files, warnings } = await bundleFunctions({
    outDirectory: values.out,
    ...(values.config !== undefined && { configFile: values.config }),
  });
  for (const warning of warnings) console.error(`warning: ${warning}`);
  for (const { path, bytes } of files) console.log(`${(bytes / 1024).toFixed(1).padStart(9)} KiB  ${path}`);
  console.log(`\nstart it with: npx functions-framework --source ${values.out} --target bulkSink`);
} catch (error) {
  const isTold =
    error instanceof ConfigError ||
    error instanceof BundleError ||
    (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
  if (!isTold) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
