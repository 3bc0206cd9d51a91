.PHONY: demo test soak bench bench-peers install

demo test soak bench bench-peers install:
	@./dev $@
