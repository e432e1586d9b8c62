import { Command } from 'commander';
import { ConfigError } from '../../shared/base/errors.ts';
import { tellsUsage } from '../local/base/program.ts';
import { bundleFunctions, BundleError } from './bundle.ts';

/** `npm run build [-- --config connector.yaml] [--out dist]`: the functions as a folder to deploy. */
interface BuildOptions {
  readonly config?: string;
  readonly out: string;
}

const program = tellsUsage(
  new Command('npm run build --')
    .description(
      'Bundles the functions as a folder to deploy, with a checked configuration and the modules that it names.',
    )
    .option('--config <file>', 'the connector.yaml to check and carry along (default: the deployment names one)')
    .option('--out <folder>', 'folder to write: absent, empty, or an earlier bundle, which is replaced', 'dist')
    .addHelpText(
      'after',
      `
Modules lie within the project of the configuration: its repository, else its package, else its folder.
Exit codes: 0 built; 1 the configuration is wrong or a source does not bundle; 2 the command line is wrong.`,
    ),
);

const { config, out } = program.parse().opts<BuildOptions>();
try {
  const { files, warnings } = await bundleFunctions({
    outDirectory: out,
    ...(config !== undefined && { configFile: config }),
  });
  for (const warning of warnings) console.error(`warning: ${warning}`);
  for (const { path, bytes } of files) console.log(`${(bytes / 1024).toFixed(1).padStart(9)} KiB  ${path}`);
  console.log(`\nstart it with: npx functions-framework --source ${out} --target bulkSink`);
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof BundleError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
