.PHONY: demo test soak bench bench-peers conformance install

demo test soak bench bench-peers conformance install:
	@./dev $@
