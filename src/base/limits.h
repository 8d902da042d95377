/* Every bound c8s puts on what outsiders can make grow, with its reason. Stock's value where stock has one. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* A request body (stock: 3 MiB, MaxRequestBodyBytes). */
#define LIMIT_REQUEST_BODY_BYTES ((size_t)3 << 20)
/* A stored value (stock's etcd: 1.5 MiB requests). */
#define LIMIT_STORE_VALUE_BYTES ((size_t)3 << 19)
/* A storage key; resource, namespace and name with their separators. */
#define LIMIT_STORE_KEY_BYTES ((size_t)1024)
/* Headers of one HTTP request or response, names and values together. */
#define LIMIT_HTTP_HEADER_BYTES ((size_t)64 << 10)
#define LIMIT_HTTP_HEADERS 128
/* One WebSocket message; those of exec and attach have some 32 KiB. */
#define LIMIT_WEBSOCKET_MESSAGE_BYTES ((size_t)1 << 20)
/* Nesting of JSON, YAML and protobuf input; deeper is refused, so recursion is bounded. */
#define LIMIT_DECODE_DEPTH 100
/* Memory that one decoded message may take: a base, and so many times its length (two bytes may stand for a struct). */
#define LIMIT_DECODE_BASE_BYTES ((size_t)16 << 20)
#define LIMIT_DECODE_GROWTH 32
/* Bytes that aliases may expand a YAML document to. */
#define LIMIT_YAML_EXPANDED_BYTES ((size_t)16 << 20)
/* One gRPC message (stock kubelet: 16 MiB). */
#define LIMIT_GRPC_MESSAGE_BYTES ((size_t)16 << 20)
/* Operations in one JSON patch (stock: 10,000). */
#define LIMIT_JSON_PATCH_OPERATIONS 10000
/* Digits of a quantity that count; its values are 128 bits wide. */
#define LIMIT_QUANTITY_DIGITS 36

/* A container image's manifest, index or configuration (stock's containerd reads at most 4 MiB). */
#define LIMIT_IMAGE_METADATA_BYTES ((size_t)4 << 20)
/* Layers of one image: overlayfs options for so many fit in a page when their names are short. */
#define LIMIT_IMAGE_LAYERS 128
/* A layer's content, unpacked: bytes that files claim to have or that come out of decompression, and entries. */
#define LIMIT_IMAGE_LAYER_BYTES ((int64_t)64 << 30)
#define LIMIT_IMAGE_LAYER_ENTRIES ((int64_t)4 << 20)
/* A blob in a registry or archive. */
#define LIMIT_IMAGE_BLOB_BYTES ((int64_t)64 << 30)
/* An answer of a registry's token server, or the text of its error. */
#define LIMIT_IMAGE_TOKEN_BYTES ((size_t)256 << 10)

/* A CNI configuration, or what a CNI plugin prints; no list of port mappings comes near it. */
#define LIMIT_CNI_BYTES ((size_t)1 << 20)

/* A CEL expression: characters (stock: 100,000), and nesting, which bounds the stack of checking and evaluating it. */
#define LIMIT_CEL_CHARACTERS 100000
#define LIMIT_CEL_DEPTH 250

#endif

