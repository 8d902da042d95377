# The two commands a newcomer needs are `make demo` and `make test`; docs/ has the rest.
BUILD ?= release
DIR_release = build
DIR_debug = build-debug
DIR := $(DIR_$(BUILD))
OPTIONS_release = --buildtype=release -Db_ndebug=false
OPTIONS_debug = --buildtype=debug -Db_sanitize=address,undefined -Db_lundef=false

# The release build is what is used; the sanitized one is for tests, and makes them too.
TARGETS_release = c8s
TARGETS_debug = all

.PHONY: all demo stop test unit sim deps clean check-layers

all: $(DIR)/build.ninja
	ninja -C $(DIR) $(TARGETS_$(BUILD))

$(DIR)/build.ninja: | deps
	meson setup $(OPTIONS_$(BUILD)) $(DIR)

deps:
	@packaging/install-deps build

check-layers:
	@tools/check-layers src/LAYERS $$(git ls-files 'src/*.[ch]')

unit: all check-layers
	tests/run unit

test:
	tests/run

# A cluster on a virtual clock: make sim SEED=7 [COUNT=100] (docs/simulation.md)
sim: all
	$(DIR)/c8s simulate --seed $(or $(SEED),1) --count $(or $(COUNT),1)

demo:
	tools/demo

stop:
	tools/demo stop

clean:
	rm -rf build build-debug
