#!/usr/bin/env bash
# Generates shared/proto, the TypeScript wire types, from the .proto files that Google's clients ship (Apache-2.0) and
# from our own. One tree for the connector and for the local cloud, pruned to the RPCs that one of them calls or serves;
# services are plain data (name, request, response), so no generated file imports a gRPC library.
#   generate-proto.sh           writes the tree and its manifest; run it when a client major moves, and check the result in
#   generate-proto.sh --check   generates beside the tree and fails where the two differ
# Needs npm and its registry. A test holds the tree to the manifest without either.
set -euo pipefail
case "${1:-}" in
  '' | --check) ;;
  -h | --help)
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
    exit 0
    ;;
  *)
    echo "error: unknown option '$1' (it takes --check or --help)" >&2
    exit 2
    ;;
esac
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/protos/google" "$work/protos/connector/v1"
gax=node_modules/google-gax/build/protos/google
for package in api iam/v1 rpc longrunning type; do
  mkdir -p "$work/protos/google/$package"
  cp "$gax/$package"/*.proto "$work/protos/google/$package/"
done
cp -r node_modules/@google-cloud/bigtable-api/build/protos/google/bigtable "$work/protos/google/"
cp -r node_modules/@google-cloud/pubsub-api/build/protos/google/pubsub "$work/protos/google/"
mkdir -p "$work/protos/google/firestore"
cp -r node_modules/@google-cloud/firestore-api/build/protos/google/firestore/v1 "$work/protos/google/firestore/"
cp shared/proto/connector/v1/*.proto "$work/protos/connector/v1/"
printf 'version: v2\nmodules:\n  - path: protos\n' >"$work/buf.yaml"

options="opt: [forceLong=bigint, env=node, importSuffix=.ts, outputJsonMethods=false, outputPartialMethods=false,
  useExactTypes=false, enumsAsLiterals=true, unrecognizedEnum=false, oneof=unions-value, useOptionals=none, useDate=false,
  comments=false, esModuleInterop=true, useNullAsOptional=false, outputServices=generic-definitions"

# Annotations are for other generators. Of features that the local Pub/Sub refuses only the presence matters.
pubsub=google.pubsub.v1
settings=$pubsub.IngestionDataSourceSettings
left_out="google.api.http, google.api.method_signature, google.api.routing, google.api.default_host,
  google.api.oauth_scopes, google.longrunning.operation_info,
  $settings.AwsKinesis, $settings.CloudStorage, $settings.AzureEventHubs, $settings.AwsMsk, $settings.ConfluentCloud,
  $pubsub.PlatformLogsSettings, $pubsub.JavaScriptUDF, $pubsub.AIInference"

generate() { # options, types (YAML list)
  cat >"$work/gen.yaml" <<YAML
version: v2
inputs:
  - directory: $work/protos
    types: [$2]
    exclude_types: [$left_out]
plugins:
  - local: protoc-gen-ts_proto
    out: $work/out
    include_imports: true
    $options, $1]
YAML
  npm exec --yes --package=@bufbuild/buf@1.75.0 --package=ts-proto@2.18.0 -- buf generate --template "$work/gen.yaml"
}

methods() { # service, RPCs
  local service=$1
  shift
  printf "$service.%s, " "$@"
}

v2=google.bigtable.v2
admin=google.bigtable.admin.v2
# Unknown fields of a schema are kept: a family whose type holds something that we do not know is of another type.
# Before everything else, which writes the files that both share without them.
generate unknownFields=true "
  $(methods $admin.BigtableTableAdmin CreateTable ListTables GetTable UpdateTable DeleteTable ModifyColumnFamilies \
  DropRowRange GenerateConsistencyToken CheckConsistency)
  $(methods $admin.BigtableInstanceAdmin GetAppProfile UpdateAppProfile)"
generate unknownFields=false "
  $(methods $v2.Bigtable ReadRows SampleRowKeys MutateRow MutateRows CheckAndMutateRow PingAndWarm ReadModifyWriteRow \
  GenerateInitialChangeStreamPartitions ReadChangeStream)
  $v2.FeatureFlags, google.rpc.ErrorInfo, google.rpc.RetryInfo, connector.v1.RowRequest, connector.v1.RowResult,
  $(methods $pubsub.Publisher CreateTopic UpdateTopic Publish GetTopic ListTopics ListTopicSubscriptions DeleteTopic)
  $(methods $pubsub.Subscriber CreateSubscription GetSubscription UpdateSubscription ListSubscriptions \
  DeleteSubscription ModifyAckDeadline Acknowledge Pull StreamingPull ModifyPushConfig Seek)
  $(methods google.firestore.v1.Firestore GetDocument BatchGetDocuments ListDocuments CreateDocument UpdateDocument \
  DeleteDocument Commit BatchWrite BeginTransaction Rollback RunQuery RunAggregationQuery ListCollectionIds)"
rm -rf "$work/out/google/api" "$work/out/google/protobuf/descriptor.ts"

if [ "${1:-}" = --check ]; then
  for part in google connector; do
    diff -r --exclude='*.proto' --brief "$work/out/$part" "shared/proto/$part" || {
      echo 'shared/proto is not what the generator makes: run `npm run proto` and check the result in' >&2
      exit 1
    }
  done
  exit 0
fi
rm -rf shared/proto/google shared/proto/connector/v1/*.ts
cp -r "$work/out/google" shared/proto/
cp "$work"/out/connector/v1/*.ts shared/proto/connector/v1/
node infra/tooling/proto-manifest.ts
